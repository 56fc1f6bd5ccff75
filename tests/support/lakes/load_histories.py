"""Histories of a table: batches, crashes, rollbacks, blocks and new columns, against the model.

After every step the table is what the model says, to every reader, and so are the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import (
    HashStrategy,
    LoadType,
    RunStatus,
    Severity,
)
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.load import (
    KEY_HASH,
    KEYED_LOADS,
    NEW_ROWS_ONLY,
    ROW_HASH,
    Load,
)
from lakeguard_sdk.model.run import RunResult, Window
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.load_models import (
    Between,
    ExpectedRun,
    LoadModel,
    Row,
    RunRefused,
    Shown,
    Tally,
    rows_of,
)
from tests.support.lakes.loaded_tables import TABLE, LoadedTable

COLUMNS = {"k": "long", "g": "string", "n": "long", "v": "string", "at": "timestamp"}
ADDED = {"extra": "string"}
BAD = "unwanted"
RULE = RuleDefinition(
    rule_id="wanted",
    rule_type="IN_SET",
    expression="in_set(v, values=['x', 'y', 'z'])",
    severity=Severity.FAIL,
)
BEFORE_COMMIT = ("stage.written", "measure.taken", "decision.recorded", "intent.recorded")
AFTER_COMMIT = ("publish.committed", "publish.synced", "complete.before")
FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)


class Stopped(Exception):
    """What a run is stopped with."""


@dataclass
class History:
    """One table and the model of it, side by side."""

    table: LoadedTable
    chance: Random
    landed: dict[str, list[Row]] = field(default_factory=dict)
    versions: dict[int, Shown] = field(default_factory=dict)
    published: int = 0
    steps: list[str] = field(default_factory=list)

    @property
    def load(self) -> Load:
        return self.table.load

    @property
    def shown(self) -> Shown:
        return self.versions.get(self.published, Shown())

    # -- steps ---------------------------------------------------------------------------------

    def batch(self) -> None:
        """One or two more files, and a run."""
        self.land(self.some_rows())
        if self.load.type in NEW_ROWS_ONLY and self.chance.random() < 0.3:
            self.land(self.some_rows())
        self.run()

    def again(self) -> None:
        """A run with nothing new to read, or with all that there is once more."""
        self.run()

    def crash(self) -> None:
        """A run that is stopped, and one after it."""
        self.land(self.some_rows())
        self.run(stopped_at=self.chance.choice(BEFORE_COMMIT + AFTER_COMMIT))
        self.run()

    def back(self) -> None:
        """An earlier version is shown again; what was read after it is read again."""
        others = [version for version in self.versions if version != self.published]
        if not others:
            return
        self.published = self.chance.choice(others)
        self.steps.append(f"roll back to v{self.published}")
        self.table.client.operations.rollback(TABLE, self.published, "tests")
        self.compare()
        self.run()

    def blocked(self) -> None:
        """A batch that a rule forbids, then the same without what was wrong."""
        rows = self.some_rows()
        spoilt = [{**row, "v": BAD} if row is rows[-1] else row for row in rows]
        name = self.land(spoilt)
        self.run()
        self.take_away([name])
        self.land(rows)
        self.run()

    def grow(self) -> None:
        """One more column; files that are older than it are archived, or stay."""
        if "extra" not in self.table.columns:
            archived = self.chance.random() < 0.5
            self.steps.append(f"a column more, old files archived: {archived}")
            self.table.redefine(columns={**self.table.columns, **ADDED})
            if archived:
                self.table.clear()
                self.landed.clear()
        self.batch()

    def fill_back(self) -> None:
        """A window of days, from all files that there are."""
        days = sorted(self.chance.sample(range(6), 2))
        if self.published and self.landed:
            self.run(window=(moment(days[0]), moment(days[1])))

    # -- what a step is made of ----------------------------------------------------------------

    def land(self, rows: list[Row]) -> str:
        whole = self.load.type not in NEW_ROWS_ONLY
        if whole:
            self.landed.clear()
        name = self.table.land(rows, alone=whole)
        self.landed[name] = rows
        self.steps.append(f"{name}: {rows}")
        return name

    def take_away(self, names: list[str]) -> None:
        """What no run will accept, an operator removes."""
        for name in names:
            (self.table.folder / "in" / name).unlink(missing_ok=True)
            self.landed.pop(name, None)

    def run(
        self, stopped_at: str | None = None, window: tuple[datetime, datetime] | None = None
    ) -> None:
        self.steps.append(f"run, stopped at {stopped_at}, window {window}")
        asked = window and Window(
            column="at", start=window[0].isoformat(), end=window[1].isoformat()
        )
        with meanwhile(stopped_at, stop):
            result = self.table.run(asked)
        try:
            if self.lacks_a_column(window):
                assert result.status is RunStatus.BLOCKED, self.say(result)
                return
            expected = self.expected(window)
        except RunRefused:
            assert result.status is RunStatus.FAILED, self.say(result)
            if self.load.type in NEW_ROWS_ONLY and window is None:
                self.take_away(self.shown.unread(self.load, self.landed))
            return
        if expected is not None:
            self.check(result, expected, stopped_at)
        elif stopped_at == "stage.written":
            assert result.status is RunStatus.FAILED, self.say(result)
        else:
            assert (result.status, result.version) == (RunStatus.SUCCESS, None), self.say(result)
        self.compare()

    def lacks_a_column(self, window: tuple[datetime, datetime] | None) -> bool:
        """Whether no file that is to be read has all columns: that is for a person to explain."""
        names = self.shown.to_read(self.load, self.landed, again=window is not None)
        return bool(names) and not any(
            set(self.table.columns) <= self.landed[name][0].keys() for name in names
        )

    def expected(self, window: tuple[datetime, datetime] | None) -> ExpectedRun | None:
        """What the run must come to; None where there is nothing to do."""
        plan = self.table.heard.plan
        assert plan is not None
        assert plan.as_of is not None
        between = Between("at", *window) if window else None
        model = LoadModel(self.load, tuple(self.table.columns), between, plan.as_of)
        if not self.landed:
            raise RunRefused("no file matches")
        names = self.shown.to_read(self.load, self.landed, again=window is not None)
        if not names:
            return None
        reported = model.run(self.shown, {name: self.landed[name] for name in names})
        grown = bool(self.published) and set(model.names) != set(self.shown.rows.columns)
        moved = replace(reported.tally, unchanged=0, late=0, duplicates=0) != Tally()
        plain = self.load.type is LoadType.FULL or (
            self.load.type is LoadType.APPEND and not self.load.keys and not reported.tally.late
        )
        return reported if moved or grown or (plain and not window) else None

    def check(self, result: RunResult, expected: ExpectedRun, stopped_at: str | None) -> None:
        """A version, or none and why; the model goes on from what there is."""
        if BAD in set(expected.shown.rows["v"]):
            assert result.status is RunStatus.BLOCKED, self.say(result)
            return
        if stopped_at in BEFORE_COMMIT:
            assert result.status is RunStatus.FAILED, self.say(result)
            return
        assert result.status is RunStatus.SUCCESS, self.say(result)
        assert result.version == max(self.versions, default=0) + 1, self.say(result)
        self.published = result.version
        self.versions[result.version] = expected.shown
        self.compare_tally(expected.tally)

    # -- comparing -----------------------------------------------------------------------------

    def compare_tally(self, tally: Tally) -> None:
        changes = self.table.changes
        keyed = self.load.type in KEYED_LOADS or bool(self.load.keys)
        if changes is None:
            assert not keyed or self.load.type in (LoadType.FULL, LoadType.PARTITION)
            return
        left_out = {"unchanged"} if self.load.type is LoadType.SCD2 else set()
        if not keyed:
            left_out = {"unchanged", "duplicates"}
        found = {name: count for name, count in changes.to_data().items() if name not in left_out}
        assert found == {name: getattr(tally, name) for name in found}, self.say(changes)

    def compare(self, spark: SparkSession | None = None) -> None:
        """The table as each reader sees it; delta-spark where a session is given."""
        if not self.published:
            return
        readers: dict[str, Callable[[], list[Row]]] = {
            "delta-rs": self.table.by_deltalake,
            "DuckDB": self.table.by_duckdb,
        }
        if spark is not None:
            readers["delta-spark"] = lambda: self.table.by_spark(spark)
        for reader, read in readers.items():
            found = read()
            self.check_hashes(found, reader)
            assert as_read(found, self.shown) == as_read(rows_of(self.shown.rows), self.shown), (
                f"{reader}: {self.say(found)}"
            )

    def check_hashes(self, rows: list[Row], reader: str) -> None:
        """Equal content has equal hashes, and other content others."""
        name = {HashStrategy.ROW_HASH: ROW_HASH, HashStrategy.KEY_HASH: KEY_HASH}.get(
            self.load.hash
        )
        if name is None:
            return
        row_wise = self.load.hash is HashStrategy.ROW_HASH
        apart = {*self.load.keys, self.load.effective if self.load.type is LoadType.SCD2 else ""}
        columns = [c for c in self.table.columns if c not in apart] if row_wise else self.load.keys
        pairs = {
            (tuple(row.get(c) for c in columns), row[name])
            for row in rows
            if not row.get("is_deleted")
        }
        contents, hashes = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        assert len(contents) == len(hashes) == len(pairs), f"{reader}: {self.say(rows)}"

    def say(self, what: object) -> str:
        return "\n".join([*self.steps, f"model: {rows_of(self.shown.rows)}", f"found: {what}"])

    # -- chance --------------------------------------------------------------------------------

    def some_rows(self) -> list[Row]:
        """Late ones, doubled ones, ones with NULLs, several of a key, in no order.

        Where nothing orders them, rows of one key mostly agree.
        """
        rows = [self.some_row() for _ in range(self.chance.randint(1, 5))]
        if self.load.keys and not self.load.order_by and self.chance.random() < 0.9:
            rows = list({(row["k"], row[self.load.effective or "k"]): row for row in rows}.values())
        rows += [dict(row) for row in rows if self.chance.random() < 0.2]
        self.chance.shuffle(rows)
        return rows

    def some_row(self) -> Row:
        chance = self.chance
        row = {
            "k": chance.randrange(5),
            "g": chance.choice(["a", "b", None]),
            "n": chance.choice([None, *range(1, 9)]),
            "v": chance.choice(["x", "y", "z", None]),
            "at": moment(chance.randrange(6)),
        }
        if "extra" in self.table.columns:
            row["extra"] = chance.choice([None, "e"])
        if self.load.operation:
            row[self.load.operation] = chance.choice(["insert", "U", "delete"])
        return row


def make_history(
    folder: Path,
    load: Load,
    chance: Random,
    steps: tuple[str, ...],
    spark: SparkSession,
    *,
    every_step: bool = False,
) -> History:
    """A history of these steps, carried out and compared; ``verify`` finds nothing at its end.

    delta-spark takes seconds to open a table: it looks at the end, or at every step.
    """
    history = History(LoadedTable(folder, load, dict(COLUMNS), (RULE,)), chance)
    for step in steps:
        getattr(history, step)()
        if every_step:
            history.compare(spark)
    history.compare(spark)
    assert history.table.client.ledger.verify().findings == (), history.say("verify")
    return history


def stop() -> None:
    raise Stopped


def moment(day: int) -> datetime:
    return FIRST_DAY + timedelta(days=day)


def as_read(rows: list[Row], shown: Shown) -> Counter[tuple[Any, ...]]:
    """Each row by the model's columns, however often it stands there."""
    return Counter(tuple(row.get(name) for name in shown.rows.columns) for row in rows)
