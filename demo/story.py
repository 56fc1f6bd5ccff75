"""The demo in six steps; each checks its own result."""

from __future__ import annotations

import time
from pathlib import Path

from demo.lake import Lake, make_folder
from demo.landing import Landing
from demo.narrator import Narrator, expect
from lakeguard.cli.rendering.checks import BLOCKING, with_outcome
from lakeguard.cli.rendering.replay import replay_lines
from lakeguard.cli.rendering.run import run_lines
from lakeguard.cli.terminal.layout import Tone, toned
from lakeguard.services.definition_counts import counted
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult

FLIGHTS = "bronze.flights"
BRONZE = (FLIGHTS, "bronze.airlines", "bronze.airports", "bronze.planes", "bronze.weather")
SILVER = ("silver.flights", "silver.airlines", "silver.planes")
GOLD = "gold.daily_delays"
WHY_BACK = "31 December came with delays in seconds"


class Story:
    """Runs once, in order."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder)
        self.narrator = Narrator()
        self.landing = Landing(folder)
        self.in_year = self.landing.receive_year()
        self.lake = Lake(folder)

    def run_all(self) -> RunResult:
        """Run every step; return the blocked run."""
        with self.lake.client:
            self.register()
            self.bronze()
            self.silver()
            self.gold()
            blocked = self.bad_day()
            self.corrected(blocked)
        return blocked

    def register(self) -> None:
        started = time.monotonic()
        definitions, applied = self.lake.apply()
        took = f"applied in {time.monotonic() - started:.1f} s"
        self.narrator.step_title(
            "Register", f"{counted(definitions)}   {toned(f'✓ {took}', Tone.GOOD)}"
        )
        expect(len(applied.registered) == len(definitions.datasets), "every dataset is registered")

    def bronze(self) -> None:
        self.narrator.step_title("Bronze", "flights from January to 30 December")
        for name in BRONZE:
            self.promoted(name, version=1)
        self.holds(FLIGHTS, version=1, rows=self.in_year)

    def silver(self) -> None:
        self.narrator.step_title("Silver")
        for name in SILVER:
            self.promoted(name, version=1)
        self.holds("silver.flights", version=1, rows=self.in_year)

    def gold(self) -> None:
        self.narrator.step_title("Gold")
        self.promoted(GOLD, version=1)

    def bad_day(self) -> RunResult:
        self.narrator.step_title("31 December arrives", "with delays in seconds instead of minutes")
        on_last_day = self.landing.receive_last_day(in_seconds=True)
        self.promoted(FLIGHTS, version=2, note="raw data is kept as received")
        self.holds(FLIGHTS, version=2, rows=self.in_year + on_last_day)
        result = self.run("silver.flights")
        expect(result.status is RunStatus.BLOCKED, "the wrong delays are blocked")
        expect(self.lake.published("silver.flights") == 1, "silver.flights v1 stays visible")
        checks = result.decision.ruling.checks if result.decision else ()
        failing = [check.expression for check in with_outcome(checks, *BLOCKING)]
        expect(any("dep_delay" in expression for expression in failing), "dep_delay is named")
        return result

    def corrected(self, blocked: RunResult) -> None:
        self.narrator.step_title("Back", "bronze.flights to v1, then the corrected file lands")
        move = self.lake.rollback(FLIGHTS, 1, WHY_BACK)
        expect(self.lake.published(FLIGHTS) == 1, "bronze.flights is back at v1")
        self.narrator.lines([f"{toned('✓ ROLLED BACK', Tone.GOOD)}  {FLIGHTS} v{move.version}"])
        on_last_day = self.landing.receive_last_day(in_seconds=False)
        self.promoted(FLIGHTS, version=3)
        self.promoted("silver.flights", version=2)
        self.promoted(GOLD, version=2)
        for name, version in ((FLIGHTS, 3), ("silver.flights", 2)):
            self.holds(name, version=version, rows=self.in_year + on_last_day)
        replayed = self.lake.replay(blocked.run_id)
        expect(replayed.identical, "the replayed decision is identical")
        self.narrator.lines(
            [f"{replay_lines(replayed)[0]}   the blocked decision of step 5, replayed"]
        )

    def run(self, name: str, note: str = "") -> RunResult:
        result = self.lake.run(name)
        first, *more = run_lines(result, self.lake.published(name))
        self.narrator.lines([f"{first}   {note}".rstrip(), *more])
        return result

    def promoted(self, name: str, *, version: int, note: str = "") -> None:
        result = self.run(name, note)
        expect(
            result.status is RunStatus.SUCCESS and result.version == version,
            f"{name} v{version} is promoted",
        )

    def holds(self, name: str, *, version: int, rows: int) -> None:
        found = self.lake.version(name, version).table_rows
        expect(found == rows, f"{name} v{version} holds {rows:,} rows, not {found:,}")
