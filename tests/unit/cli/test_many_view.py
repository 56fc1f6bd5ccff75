"""The summary of many runs."""

from __future__ import annotations

import click

from lakeguard.cli.rendering.run import ended_line, many_lines
from lakeguard.services.run_graph import Ended
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.model.run import Failure
from tests.support.cases import models

OTHER, GOLD = DatasetName("silver.other"), DatasetName("gold.daily")
BRONZE = Ended(
    dataset=models.BRONZE,
    result=models.result(version=3).model_copy(update={"dataset": models.BRONZE, "rows": 776}),
    seconds=3.21,
)
BLOCKED = Ended(
    dataset=models.FLIGHTS,
    result=models.result(RunStatus.BLOCKED, decision=models.decision(models.MEAN, models.FINE)),
    seconds=61.0,
)
BROKEN = Ended(dataset=OTHER, error=Failure(code="LG-6003", message="state is\x1b away"))
HELD = Ended(dataset=GOLD, waits_for=(models.FLIGHTS,))


def lines(*ended: Ended, **left_out: str) -> list[str]:
    published = {models.BRONZE: 3, models.FLIGHTS: 1}
    named = {DatasetName(f"bronze.{name}"): why for name, why in left_out.items()}
    return [click.unstyle(line) for line in many_lines(ended, published, named)]


def test_one_line_for_each_dataset_after_what_went_wrong() -> None:
    output = lines(BRONZE, BLOCKED, BROKEN, HELD, events="built by a program: tx.publish")
    assert output[0] == "✗ BLOCKED  silver.flights   nothing was published; v1 stays visible"
    assert "  LG-6003  state is\\x1b away" in output
    at = next(index for index, line in enumerate(output) if line.startswith("OUTCOME"))
    assert output[at:] == [
        "OUTCOME      DATASET          VISIBLE   ROWS     TOOK   WHY",
        "✓ PROMOTED   bronze.flights   v3         776    3.2 s",
        "✗ BLOCKED    silver.flights   v1           -   61.0 s   1 check failed",
        "! FAILED     silver.other     -            -    0.0 s   LG-6003",
        "○ NOT RUN    gold.daily       -            -        -   waits for silver.flights",
        "",
        "skipped: bronze.events, built by a program: tx.publish",
        "4 datasets: 1 promoted, 1 blocked, 1 failed, 1 not run",
        "Next: lakeguard why silver.flights",
    ]


def test_all_well_needs_no_next_command() -> None:
    assert lines(BRONZE)[-1] == "1 dataset: 1 promoted"


def test_an_alert_that_let_a_dataset_through_is_named() -> None:
    alert = models.check("owner in [x]", Outcome.WARN, kind=CheckKind.POLICY, check_id="owned")
    decision = models.decision(models.FINE, models.NO_TAIL, alert)
    ended = Ended(dataset=models.FLIGHTS, result=models.result(version=1, decision=decision))
    assert lines(ended)[1].endswith("2 warnings, policy owned alerts")


def test_nothing_to_run() -> None:
    assert lines()[0] == "nothing to run"


def test_who_waits_hears_how_each_ended() -> None:
    given = [ended_line(item) for item in (BRONZE, BLOCKED, BROKEN)]
    assert given == [
        "bronze.flights promoted: v3",
        "silver.flights blocked: 1 check failed",
        "silver.other failed: LG-6003",
    ]
