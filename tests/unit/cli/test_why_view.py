"""One screen that explains a decision."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import click
import pytest

from lakeguard.cli.explaining import Explanation, explain
from lakeguard.cli.views.why import why_lines
from lakeguard.cli.ways_out import ways_out_of
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.definition import DatasetDefinition, FromFrame, FromSql
from lakeguard_sdk.evidence import Changes
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.reading import DatasetStatus, PointerMove, RunFacts, RunRow, VersionRow
from lakeguard_sdk.words import RunStatus
from tests.unit.cli import nouns


class Ledger:
    """As much of a reader as an explanation asks."""

    def __init__(self, bronze: int = 2, green_rules: str = "sha256:aaaa") -> None:
        self.bronze = bronze
        self.build: FromSql | FromFrame = FromSql(file="sql/flights.sql", text="SELECT 1")
        self.green = nouns.decision(nouns.FINE, run_id="run_1", ruleset=green_rules)
        self.blocked = nouns.decision(nouns.FINE, nouns.MEAN, nouns.TOO_LATE)
        self.promoted: Sequence[VersionRow] = (nouns.version_row(1),)
        self.said: RunFacts | None = None
        self.moves = [self.bronze_at(1, hours=30)]
        if bronze > 1:
            self.moves.append(self.bronze_at(bronze, hours=2))

    @staticmethod
    def bronze_at(version: int, hours: float) -> PointerMove:
        at = nouns.NOW - timedelta(hours=hours)
        return nouns.move(version).model_copy(update={"moved_at": at})

    def pointer_moves(self, name: DatasetName) -> Sequence[PointerMove]:
        return self.moves

    def status(self) -> Sequence[DatasetStatus]:
        return nouns.status(nouns.BRONZE, self.bronze), nouns.status(nouns.FLIGHTS, 1)

    def definition(self, name: DatasetName) -> DatasetDefinition:
        return nouns.definition().model_copy(update={"build": self.build})

    def facts(self, run_id: str) -> RunFacts | None:
        return self.said

    def versions(self, name: DatasetName) -> Sequence[VersionRow]:
        return self.promoted

    def decision(self, run_id: str) -> Decision:
        return {"run_1": self.green, "run_2": self.blocked}[run_id]


def explained(ledger: Ledger, run: RunRow) -> Explanation:
    return explain(ledger, run)  # type: ignore[arg-type]


def told(explanation: Explanation, *, every_check: bool = False) -> list[str]:
    return [click.unstyle(line) for line in why_lines(explanation, every_check=every_check)]


BLOCKED = nouns.run_row(decision_id="dec_of_run_2")


def test_a_block_is_explained_on_one_screen() -> None:
    lines = told(explained(Ledger(), BLOCKED))
    assert lines == [
        "✗ BLOCKED  silver.flights   nothing was published; v1 is visible",
        "  run        run_2",
        "  ended      2026-01-31 11:59:55 UTC",
        "  decision   dec_of_run_2",
        "",
        "3 checks",
        "  mean(dep_delay)                        ✗ FAIL   mean is 419.763, limit -10 to 100",
        "  range(dep_delay, min=-120, max=2000)   ✗ FAIL   "
        "377 of 776 new rows (49 %), worst 13,200, limit 0.1 %",
        "  1 other check passed   (--all shows them)",
        "",
        "Since v1 (2026-01-30 12:00:00 UTC)",
        "  input bronze.flights   v1 → v2",
        "",
        "Ways out",
        "  bronze.flights v2 is wrong; back to what v1 was built on:",
        '    lakeguard rollback bronze.flights --to v1 --reason "…"',
        "  The data or the build was corrected:",
        "    lakeguard run silver.flights",
        "  A rule was wrong and is changed in its definition:",
        "    lakeguard apply && lakeguard run silver.flights",
        "  Somebody answers for it for a time, and for 1 other rule:",
        "    lakeguard waive silver.flights mean(dep_delay) --until DATE"
        ' --reason "…" --approver NAME',
    ]
    assert len(lines) <= 40


def test_the_way_out_of_what_a_program_publishes_is_the_program() -> None:
    ledger = Ledger()
    ledger.build = FromFrame()
    commands = [way.command for way in explained(ledger, BLOCKED).ways_out]
    publish = 'tx.publish("silver.flights", frame)'
    assert commands[-3:-1] == [publish, "lakeguard apply"]


def test_every_check_on_request() -> None:
    assert "  row_count(min=1)                       ✓ PASS   776 new rows" in told(
        explained(Ledger(), BLOCKED), every_check=True
    )


def test_a_changed_rule_set_is_named() -> None:
    lines = told(explained(Ledger(bronze=1, green_rules="sha256:cccc"), BLOCKED))
    assert "  rules   cccc → aaaa" in lines
    assert not any("rollback" in line for line in lines)


def test_an_old_run_is_explained_by_what_it_read_then() -> None:
    """The input was wrong at v2 and corrected as v3 since: there is nothing to roll back."""
    ledger = Ledger()
    ledger.bronze = 3
    ledger.moves.append(ledger.bronze_at(3, hours=0))
    lines = told(explained(ledger, BLOCKED))
    assert "  input bronze.flights   v1 → v2" in lines
    assert not any("rollback" in line for line in lines)


def test_nothing_changed_is_said_too() -> None:
    lines = told(explained(Ledger(bronze=1), BLOCKED))
    assert "  rules, policies and input versions are the same" in lines


def test_the_first_run_has_nothing_to_compare_with() -> None:
    ledger = Ledger()
    ledger.promoted = ()
    assert "There is no earlier green run to compare with." in told(explained(ledger, BLOCKED))


def test_a_failure_shows_its_error_and_its_way_out() -> None:
    failed = nouns.run_row(RunStatus.FAILED, error_code="LG-5003", error_message="no file\x1b[0m")
    lines = told(explained(Ledger(), failed))
    assert lines[0] == "! FAILED  silver.flights   nothing was published; v1 is visible"
    assert "LG-5003  no file\\x1b[0m" in lines
    assert "No decision was made: the run ended before the gate was asked." in lines
    assert lines[-1].endswith("lakeguard run silver.flights")


def test_a_green_run_needs_no_way_out() -> None:
    ledger = Ledger()
    ledger.promoted = (nouns.version_row(1), nouns.version_row(2))
    run = nouns.run_row(RunStatus.SUCCESS, version=2)
    explanation = explained(ledger, run)
    assert explanation.ways_out == ()
    assert told(explanation)[0].startswith("✓ SUCCESS  silver.flights   v2")


def test_json_has_every_part() -> None:
    data = explained(Ledger(), BLOCKED).to_data()
    assert sorted(data) == [
        "decision", "differences", "facts", "last_green", "published", "run", "ways_out",
    ]  # fmt: skip
    assert data["differences"] == [{"what": "input bronze.flights", "before": "v1", "after": "v2"}]


def test_what_the_run_said_itself_is_told() -> None:
    ledger = Ledger()
    ledger.said = RunFacts(
        rows=776,
        changes=Changes(inserted=700, updated=76, late=1200),
        rejected=2,
        notes={"model": "m\x1b[2J", "shops": [1, 2]},
    )
    explanation = explained(ledger, nouns.run_row(decision_id="dec_of_run_2"))
    lines = told(explanation)
    assert "  changes      700 inserted, 76 updated, 1,200 late" in lines
    assert "  kept aside   2 malformed lines" in lines
    at = lines.index("Notes")
    assert lines[at + 1 : at + 3] == ["  model   m\\x1b[2J", "  shops   [1, 2]"]
    assert explanation.to_data()["facts"] == ledger.said.to_data()


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("LG-5003", "lakeguard run silver.flights"),
        ("LG-5009", "lakeguard run silver.flights"),
        ("LG-5010", "correct the rows, or the load"),
        ("LG-5011", "lakeguard run silver.flights"),
        ("LG-5012", "lakeguard doctor"),
    ],
)
def test_the_way_out_of_a_failure_is_that_of_its_code(code: str, command: str) -> None:
    run = nouns.run_row(RunStatus.FAILED, error_code=code, error_message="it broke")
    (way,) = explained(Ledger(), run).ways_out
    assert command in way.command


def test_no_run_is_the_way_out_of_what_a_program_publishes() -> None:
    ledger = Ledger()
    ledger.build = FromFrame()
    run = nouns.run_row(RunStatus.FAILED, error_code="LG-5004", error_message="it broke")
    (way,) = explained(ledger, run).ways_out
    assert way.command == 'tx.publish("silver.flights", frame)'


def test_the_way_out_of_a_failed_adoption_is_to_adopt_again() -> None:
    run = nouns.run_row(RunStatus.FAILED, error_code="LG-4002", error_message="it moved")
    said = {"location": "/data/flights", "build": FromFrame()}
    dataset = nouns.definition().model_copy(update=said)
    (way,) = ways_out_of(run, None, {}, dataset)
    assert way.command == "lakeguard adopt silver.flights /data/flights"
    (later,) = ways_out_of(run, nouns.version_row(1), {}, dataset)
    assert later.command.startswith("tx.publish")
