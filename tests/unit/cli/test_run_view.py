"""The end of a run: what happened, why, what now."""

from __future__ import annotations

import click

from lakeguard.cli.rendering.run import run_lines
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.errors import FileDamaged, TableUnreadable
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import Failure, RunResult, failure_of
from tests.support.cases import models


def lines(result: RunResult, published: int | None) -> list[str]:
    return [click.unstyle(line) for line in run_lines(result, published)]


def test_promoted() -> None:
    result = models.result(
        version=1,
        rows=336_000,
        inputs=(InputVersion(dataset=models.BRONZE, dataset_id="ds_0", version=1),),
        decision=models.decision(models.FINE, models.NO_TAIL),
    )
    assert lines(result, 1) == [
        "✓ PROMOTED  silver.flights v1   336,000 rows, 1 check passed, 1 warning"
        "   from bronze.flights@v1",
        "  not_null(tail_num)   ! WARN   1 of 776 new rows (0.13 %)",
    ]


def test_blocked() -> None:
    checks = (models.TOO_LATE, models.MEAN, models.FINE, models.FINE)
    result = models.result(RunStatus.BLOCKED, decision=models.decision(*checks))
    assert lines(result, 1) == [
        "✗ BLOCKED  silver.flights   nothing was published; v1 stays visible",
        "  range(dep_delay, min=-120, max=2000)   ✗ FAIL   "
        "377 of 776 new rows (49 %), worst 13,200, limit 0.1 %",
        "  mean(dep_delay)                        ✗ FAIL   mean is 419.763, limit -10 to 100",
        "  2 other checks passed",
        "Next: lakeguard why silver.flights",
    ]


def test_an_alert_that_let_it_through_is_told() -> None:
    alert = models.check(
        "owner in [others]", Outcome.WARN, kind=CheckKind.POLICY, check_id="owned", message="no"
    )
    output = lines(models.result(version=1, decision=models.decision(models.FINE, alert)), 1)
    assert output[1] == "  policy owned: owner in [others]   ! WARN   no"
    blocked = models.decision(models.MEAN, models.FINE, alert)
    output = lines(models.result(RunStatus.BLOCKED, decision=blocked), 1)
    assert output[2] == "  1 other check passed, 1 warning"


def test_blocked_before_anything_was_visible() -> None:
    result = models.result(RunStatus.BLOCKED, decision=models.decision(models.MEAN))
    assert lines(result, None)[0].endswith("nothing was published; nothing is visible")


def test_an_error_of_the_gate_tells_its_reason() -> None:
    broken = models.check(
        "bad\x1b[2J",
        Outcome.ERROR,
        message="no such measure",
        kind=CheckKind.POLICY,
        check_id="pii",
    )
    output = lines(models.result(RunStatus.BLOCKED, decision=models.decision(broken)), 1)
    assert output[1] == "  policy pii: bad\\x1b[2J   ✗ ERROR   no such measure"


def test_refused_checks_are_counted_as_not_evaluated() -> None:
    skipped = models.check("unique(a)", Outcome.NOT_EVALUATED)
    output = lines(
        models.result(RunStatus.BLOCKED, decision=models.decision(models.MEAN, skipped)),
        1,
    )
    assert output[2] == "  1 check not evaluated"


def test_nothing_new() -> None:
    assert lines(models.result(), 3) == ["= UNCHANGED  silver.flights   nothing new; v3 stays"]
    assert lines(models.result(), None)[0].endswith("nothing new; nothing is published yet")


def test_failed_names_the_way_out_of_its_code() -> None:
    error = Failure(code="LG-5004", message="no such column\nline 3\x1b[0m")
    assert lines(models.result(RunStatus.FAILED, error=error), 2) == [
        "✗ FAILED  silver.flights   nothing was published; v2 stays visible",
        "  LG-5004  no such column",
        "    line 3\\x1b[0m",
        "Next: correct the build, lakeguard apply, lakeguard run silver.flights",
    ]


def test_failed_with_a_code_whose_way_out_needs_more_than_the_dataset() -> None:
    error = Failure(code="LG-3005", message="it has deletion vectors")
    output = lines(models.result(RunStatus.FAILED, error=error), 2)
    assert output[-1] == "Next: lakeguard why silver.flights"


def test_failed_on_a_damaged_input_names_the_input() -> None:
    path = {"path": "runs/run_1/a.parquet", "problem": "it is missing"}
    errors = {
        FileDamaged(dataset="bronze.flights", **path): "lakeguard rollback bronze.flights --to",
        TableUnreadable(
            dataset="bronze.flights", location="/lake/bronze/flights", reason="commit 2 was altered"
        ): "lakeguard undo bronze.flights --reason",
    }
    for error, command in errors.items():
        output = lines(models.result(RunStatus.FAILED, error=failure_of(error)), 2)
        assert command in output[-1]
        assert "silver.flights" not in output[-1]


def test_a_table_whose_dataset_is_not_known_has_a_way_out() -> None:
    place = "/lake/bronze/flights"
    error = TableUnreadable(dataset=place, location=place, reason="commit 2 was altered")
    assert error.next_step.startswith("lakeguard undo DATASET --reason")
    assert failure_of(error).damaged == ""


def test_a_run_that_others_ended_leads_to_its_task() -> None:
    error = Failure(code="LG-4003", message="its lease is over")
    ended = models.result(RunStatus.FAILED, error=error)
    assert lines(ended, 2)[-1] == f"Next: lakeguard tasks show {ended.run_id}"


def test_failed_without_a_known_code() -> None:
    error = Failure(code="LG-9999", message="?")
    output = lines(models.result(RunStatus.FAILED, error=error), 2)
    assert output[-1] == "Next: lakeguard runs silver.flights"
