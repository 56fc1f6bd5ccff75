"""One screen that explains a decision."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import click
import pytest

from lakeguard.cli.commands.inspect.why import with_call_options
from lakeguard.cli.options import Call
from lakeguard.cli.rendering.why import why_lines
from lakeguard.cli.terminal.output import Screen
from lakeguard.services.explain_decision import Explanation, explain
from lakeguard.services.next_commands import NextCommand, next_commands_of
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import DatasetDefinition, FromFrame, FromSql
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.read_models import (
    DatasetStatus,
    RunFacts,
    RunRow,
    VersionRow,
)
from lakeguard_sdk.model.row_sample import RowSample
from lakeguard_sdk.model.run_comparison import (
    CheckPoint,
    CheckTrend,
    Difference,
    NamedFiles,
    Since,
    Subject,
)
from tests.support.cases import models

INPUT = Difference(subject=Subject.INPUT, name="bronze.flights", before="v1", after="v2")


class Ledger:
    """As much of a reader as an explanation asks."""

    def __init__(self, *changes: Difference, read: int = 2, now: int = 2) -> None:
        self.now = now
        self.build: FromSql | FromFrame = FromSql(file="sql/flights.sql", text="SELECT 1")
        self.blocked = models.decision(models.FINE, models.MEAN, models.TOO_LATE)
        self.promoted: Sequence[VersionRow] = (models.version_row(1),)
        self.run_facts: RunFacts | None = None
        self.fared: tuple[CheckTrend, ...] = ()
        self.rows: tuple[RowSample, ...] = ()
        self.compared: Since | None = Since(
            version=1,
            run_id="run_1",
            promoted_at=models.NOW - timedelta(days=1),
            differences=changes,
            read={models.BRONZE: read},
        )

    def status(self) -> Sequence[DatasetStatus]:
        return models.status(models.BRONZE, self.now), models.status(models.FLIGHTS, 1)

    def definition(self, name: DatasetName) -> DatasetDefinition:
        return models.definition().model_copy(update={"build": self.build})

    def facts(self, run_id: str) -> RunFacts | None:
        return self.run_facts

    def since(self, run_id: str) -> Since | None:
        return self.compared

    def trends(self, run_id: str, limit: int = 12) -> tuple[CheckTrend, ...]:
        return self.fared

    def samples(self, run_id: str) -> tuple[RowSample, ...]:
        return self.rows

    def versions(self, name: DatasetName) -> Sequence[VersionRow]:
        return self.promoted

    def decision(self, run_id: str) -> Decision:
        return self.blocked


def explained(ledger: Ledger, run: RunRow) -> Explanation:
    return explain(ledger, run, models.NOW)  # type: ignore[arg-type]


def why_output(
    explanation: Explanation, screen: Screen | None = None, *, every_check: bool = False
) -> list[str]:
    lines = why_lines(explanation, screen, every_check=every_check)
    return [click.unstyle(line) for line in lines]


BLOCKED = models.run_row(decision_id="dec_of_run_2")
ROWS = RowSample(
    rule_id=models.TOO_LATE.check_id,
    columns=("flight_key", "dep_delay", "tail_num"),
    rows=(("AA1\x1b[2J", "13200", "***"), ("x" * 90, None, "N123")) + (("AA3", "1", "***"),) * 5,
    masked=("tail_num",),
)


def trend(*failed: int | None) -> CheckTrend:
    """The range of delays over runs of 776 rows each."""
    return CheckTrend(
        kind=CheckKind.RULE,
        check_id=models.TOO_LATE.check_id,
        points=tuple(
            CheckPoint(
                run_id=f"run_{number}",
                ended_at=models.NOW,
                outcome=Outcome.NOT_EVALUATED if count is None else Outcome.FAIL,
                failed_rows=count,
                scope_rows=None if count is None else 776,
            )
            for number, count in enumerate(failed)
        ),
    )


def test_a_block_is_explained_on_one_screen() -> None:
    lines = why_output(explained(Ledger(INPUT), BLOCKED))
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
        "Next steps",
        "  bronze.flights v2 is wrong: go back to the input of v1:",
        '    lakeguard rollback bronze.flights --to v1 --reason "…"',
        "  After fixing the data or the build:",
        "    lakeguard run silver.flights",
        "  The rule was wrong: change its definition:",
        "    lakeguard apply && lakeguard run silver.flights",
        "  Waive mean(dep_delay) temporarily and rerun:",
        "    lakeguard waive silver.flights 'mean(dep_delay)' --until 2026-02-07"
        ' --reason "…" --approver NAME',
        "  Waive range(dep_delay, min=-120, max=2000) temporarily and rerun:",
        "    lakeguard waive silver.flights 'range(dep_delay, min=-120, max=2000)'"
        ' --until 2026-02-07 --reason "…" --approver NAME',
    ]
    assert len(lines) <= 40


def test_the_way_out_of_what_a_program_publishes_is_the_program() -> None:
    ledger = Ledger()
    ledger.build = FromFrame()
    commands = [way.command for way in explained(ledger, BLOCKED).next_commands]
    publish = 'tx.publish("silver.flights", frame)'
    assert commands[-4:-2] == [publish, "lakeguard apply"]


def test_every_check_on_request() -> None:
    assert "  row_count(min=1)                       ✓ PASS   776 new rows" in why_output(
        explained(Ledger(), BLOCKED), every_check=True
    )


def test_what_changed_is_told_by_its_name() -> None:
    ledger = Ledger(
        Difference(subject=Subject.COLUMN, name="gate\x1b", before=None, after="string"),
        Difference(subject=Subject.RULE, name="late", before="range(a, max=1)", after=None),
        Difference(subject=Subject.POLICY, name="owned", before="a", after="b"),
        Difference(subject=Subject.BUILD, name="the SQL", before="3 lines", after="4 lines"),
        Difference(subject=Subject.DEFINITION, name="load", before="FULL", after="APPEND"),
        Difference(subject=Subject.SETTING, name="x", before="", after="y" * 200),
    )
    lines = why_output(explained(ledger, BLOCKED))
    at = lines.index("Since v1 (2026-01-30 12:00:00 UTC)")
    assert lines[at + 1 : at + 7] == [
        "  column gate\\x1b    new: string",
        "  rule late          gone, was: range(a, max=1)",
        "  policy owned       a → b",
        "  the SQL            3 lines → 4 lines",
        "  definition, load   FULL → APPEND",
        f"  setting x          nothing → {'y' * 160}…",
    ]


def test_files_are_named_and_weighed() -> None:
    ledger = Ledger()
    assert ledger.compared is not None
    ledger.compared = ledger.compared.model_copy(
        update={
            "new_files": NamedFiles(count=4, names=("a.csv", "b.csv", "c.csv"), bytes=12_345),
            "changed_files": NamedFiles(count=1, names=("d\n.csv",), bytes=1),
            "gone_files": NamedFiles(count=2, names=("e.csv", "f.csv"), bytes=20),
        }
    )
    lines = why_output(explained(ledger, BLOCKED))
    assert "  4 new files                 a.csv, b.csv, c.csv and 1 more (12,345 bytes)" in lines
    assert "  1 file with other content   d\\n.csv (1 byte)" in lines
    assert "  2 files gone                e.csv, f.csv (20 bytes)" in lines


def test_an_old_run_is_explained_by_what_it_read_then() -> None:
    """The input was wrong at v2 and corrected as v3 since: there is nothing to roll back."""
    lines = why_output(explained(Ledger(INPUT, now=3), BLOCKED))
    assert "  input bronze.flights   v1 → v2" in lines
    assert not any("rollback" in line for line in lines)


def test_nothing_changed_is_said_too() -> None:
    lines = why_output(explained(Ledger(read=1, now=1), BLOCKED))
    assert any(line.endswith("build and settings are the same") for line in lines)
    assert not any("rollback" in line for line in lines)


def test_the_first_run_has_nothing_to_compare_with() -> None:
    ledger = Ledger()
    ledger.promoted, ledger.compared = (), None
    assert "There is no earlier successful run to compare with." in why_output(
        explained(ledger, BLOCKED)
    )


def test_the_run_that_is_compared_with_is_the_one_that_is_told() -> None:
    """Whatever else was promoted before: an input goes back to what that version was built on."""
    ledger = Ledger(INPUT)
    later = models.version_row(2).model_copy(update={"run_id": "run_other"})
    ledger.promoted = (models.version_row(1), later)
    explanation = explained(ledger, BLOCKED)
    assert explanation.green == models.version_row(1)
    assert "  bronze.flights v2 is wrong: go back to the input of v1:" in why_output(explanation)


def test_a_failure_shows_its_error_and_its_way_out() -> None:
    failed = models.run_row(RunStatus.FAILED, error_code="LG-5003", error_message="no file\x1b[0m")
    lines = why_output(explained(Ledger(), failed))
    assert lines[0] == "! FAILED  silver.flights   nothing was published; v1 is visible"
    assert "LG-5003  no file\\x1b[0m" in lines
    assert "No decision was made: the run ended before the gate." in lines
    assert lines[-1].endswith("lakeguard run silver.flights")


def test_a_green_run_needs_no_way_out() -> None:
    ledger = Ledger()
    ledger.promoted = (models.version_row(1), models.version_row(2))
    run = models.run_row(RunStatus.SUCCESS, version=2)
    explanation = explained(ledger, run)
    assert explanation.next_commands == ()
    assert why_output(explanation)[0].startswith("✓ SUCCESS  silver.flights   v2")


def test_json_has_every_part() -> None:
    ledger = Ledger(INPUT)
    ledger.fared, ledger.rows = (trend(0, 377),), (ROWS,)
    data = explained(ledger, BLOCKED).to_data()
    assert sorted(data) == [
        "decision", "facts", "last_green", "new_columns", "next_commands", "published", "run",
        "samples", "since", "trends",
    ]  # fmt: skip
    assert ledger.compared is not None
    assert data["since"] == ledger.compared.to_data()
    assert data["trends"] == [ledger.fared[0].to_data()]
    assert data["samples"] == [ROWS.to_data()]


def test_what_the_run_said_itself_is_told() -> None:
    ledger = Ledger()
    ledger.run_facts = RunFacts(
        rows=776,
        changes=Changes(inserted=700, updated=76, late=1200),
        rejected=2,
        notes={"model": "m\x1b[2J", "shops": [1, 2]},
    )
    explanation = explained(ledger, models.run_row(decision_id="dec_of_run_2"))
    lines = why_output(explanation)
    assert "  changes    700 inserted, 76 updated, 1,200 late" in lines
    assert "  rejected   2 malformed lines" in lines
    at = lines.index("Notes")
    assert lines[at + 1 : at + 3] == ["  model   m\\x1b[2J", "  shops   [1, 2]"]
    assert explanation.to_data()["facts"] == ledger.run_facts.to_data()


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
    run = models.run_row(RunStatus.FAILED, error_code=code, error_message="it broke")
    (way,) = explained(Ledger(), run).next_commands
    assert command in way.command


def test_no_run_is_the_way_out_of_what_a_program_publishes() -> None:
    ledger = Ledger()
    ledger.build = FromFrame()
    run = models.run_row(RunStatus.FAILED, error_code="LG-5004", error_message="it broke")
    (way,) = explained(ledger, run).next_commands
    assert way.command == 'tx.publish("silver.flights", frame)'


def test_the_way_out_of_a_failed_adoption_is_to_adopt_again() -> None:
    run = models.run_row(RunStatus.FAILED, error_code="LG-4002", error_message="it moved")
    given = {"location": "/data/flights", "build": FromFrame()}
    dataset = models.definition().model_copy(update=given)
    (way,) = next_commands_of(run, None, {}, dataset)
    assert way.command == "lakeguard adopt silver.flights /data/flights"
    (later,) = next_commands_of(run, models.version_row(1), {}, dataset)
    assert later.command.startswith("tx.publish")


@pytest.mark.parametrize(
    ("kind", "outcome", "expected"),
    [
        (CheckKind.RULE, Outcome.FAIL, ["The rule was wrong"]),
        (CheckKind.RULE, Outcome.ERROR, ["The rule was wrong"]),
        (CheckKind.RULE, Outcome.PASS, []),
        (CheckKind.SCHEMA, Outcome.FAIL, []),
        (CheckKind.POLICY, Outcome.FAIL, ["The policy was wrong"]),
        (CheckKind.ELIGIBILITY, Outcome.FAIL, []),
    ],
)
def test_only_what_failed_is_said_to_be_wrong(
    kind: CheckKind, outcome: Outcome, expected: list[str]
) -> None:
    check = models.check("x", outcome).model_copy(update={"kind": kind})
    decision = models.decision(check)
    first, *more = next_commands_of(BLOCKED, None, {}, models.definition(), decision)
    assert first.when == "After fixing the data or the build"
    assert [way.when[: len(words)] for way, words in zip(more, expected, strict=True)] == expected
    assert all(way.command == "lakeguard apply && lakeguard run silver.flights" for way in more)


def test_a_location_is_named_as_a_shell_takes_it() -> None:
    run = models.run_row(RunStatus.FAILED, error_code="LG-4002", error_message="it moved")
    dataset = models.definition().model_copy(update={"location": "/data/my flights"})
    (way,) = next_commands_of(run, None, {}, dataset)
    assert way.command == "lakeguard adopt silver.flights '/data/my flights'"


def test_the_ways_out_are_about_the_environment_and_project_asked_for() -> None:
    way = NextCommand(command="lakeguard apply && lakeguard run silver.flights", when="x")
    assert with_call_options(way, Call()) == way
    assert with_call_options(way, Call(env="prod")).command == (
        "lakeguard --env prod apply && lakeguard --env prod run silver.flights"
    )
    both = with_call_options(way, Call(env="prod", project=Path("my lake"))).command
    assert both.startswith("lakeguard --project 'my lake' --env prod apply && lakeguard --project")


def test_a_rollback_is_compared_with_nothing() -> None:
    ledger = Ledger()
    assert ledger.compared is not None
    ledger.compared = ledger.compared.model_copy(update={"compared": False})
    lines = why_output(explained(ledger, BLOCKED))
    assert not any(line.startswith("Since") or "no earlier successful" in line for line in lines)


def test_the_numbers_before_stand_below_their_check() -> None:
    ledger = Ledger()
    ledger.fared = (trend(0, 0, None, 194, 377),)
    lines = why_output(explained(ledger, BLOCKED))
    at = next(place for place, line in enumerate(lines) if "range(dep_delay" in line)
    assert lines[at + 1] == (
        "      ▁▁·▅█  5 runs: 0 of 776 rows first, 377 of 776 rows now, 1 without a number (·)"
    )


def test_examples_stand_below_their_check_and_hide_what_is_masked() -> None:
    ledger = Ledger()
    ledger.rows = (ROWS,)
    lines = why_output(explained(ledger, BLOCKED))
    at = next(place for place, line in enumerate(lines) if "range(dep_delay" in line)
    assert lines[at + 1 : at + 8] == [
        "      flight_key                         dep_delay   tail_num (masked)",
        "      AA1\\x1b[2J                         13200       ***",
        f"      {'x' * 31}…   NULL        ***",
        "      AA3                                1           ***",
        "      AA3                                1           ***",
        "      AA3                                1           ***",
        "      2 more examples with --json",
    ]
    narrow = why_output(explained(ledger, BLOCKED), Screen(width=40))
    assert {len(line) for line in narrow[at + 1 : at + 4]} == {40}
    assert narrow[at + 1].endswith("…")
    assert not any("N123" in line for line in lines)
