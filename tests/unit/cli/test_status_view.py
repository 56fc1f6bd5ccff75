"""The health list: worst first, badge as word and shape."""

from __future__ import annotations

from datetime import timedelta

import click

from lakeguard.cli.rendering.status import (
    Badge,
    Health,
    badge_of,
    status_lines,
    worst_first,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Enforcement, RunStatus, StreamState
from lakeguard_sdk.model.read_models import Breach
from lakeguard_sdk.model.streams import Backlog, StreamProgress, StreamStatus
from tests.support.cases import models

GOLD = DatasetName("gold.daily")


def test_badges() -> None:
    promoted = models.run_row(RunStatus.SUCCESS, version=1)
    assert badge_of(models.status(last_run=promoted)) is Badge.OK
    assert badge_of(models.status(last_run=models.run_row(RunStatus.SUCCESS))) is Badge.OK
    assert badge_of(models.status(last_run=models.run_row(RunStatus.BLOCKED))) is Badge.BLOCKED
    assert badge_of(models.status(last_run=models.run_row(RunStatus.FAILED))) is Badge.FAILED
    assert badge_of(models.status(published=None)) is Badge.EMPTY
    assert badge_of(models.status(active=False, last_run=models.run_row())) is Badge.OFF


def test_every_badge_has_a_shape_of_its_own() -> None:
    shapes = [badge.value[0] for badge in Badge]
    assert len(set(shapes)) == len(shapes)


def test_worst_first_then_by_layer_and_name() -> None:
    blocked = Health(models.status(GOLD, last_run=models.run_row()))
    fine, below = (
        Health(models.status(models.FLIGHTS)),
        Health(models.status(models.BRONZE)),
    )
    assert worst_first([fine, blocked, below]) == [blocked, below, fine]


def test_lines() -> None:
    output = status_lines(
        [
            Health(models.status(models.BRONZE, owner="a\nb", last_run=None)),
            Health(models.status(last_run=models.run_row())),
            Health(models.status(GOLD, published=None)),
        ],
        models.NOW,
    )
    assert [click.unstyle(line) for line in output] == [
        "HEALTH      DATASET          VERSION      ROWS   PUBLISHED   LAST RUN   OWNER",
        "✗ BLOCKED   silver.flights   v1        336,000   3 h ago     5 s ago    flights-team",
        "○ EMPTY     gold.daily       -               -   -           never      flights-team",
        "✓ OK        bronze.flights   v1        336,000   3 h ago     never      a\\nb",
        "",
        "3 datasets, 1 blocked or failed",
        "Next: lakeguard why silver.flights",
    ]


def test_what_is_late_is_told_below_the_list() -> None:
    breach = Breach(
        policy="daily",
        expression="freshness <= 24h",
        enforcement=Enforcement.ALERT,
        message="last promoted 1 d 6 h ago, limit 24h",
    )
    late = models.status().model_copy(update={"breaches": (breach,)})
    assert badge_of(late) is Badge.LATE
    blocked = models.status(GOLD, last_run=models.run_row()).model_copy(
        update={"breaches": (breach,)}
    )
    assert badge_of(blocked) is Badge.BLOCKED, "the worst of what is known"
    output = [click.unstyle(line) for line in status_lines([Health(late)], models.NOW)]
    assert output[1].startswith("◷ LATE")
    assert output[3] == (
        "late: silver.flights  last promoted 1 d 6 h ago, limit 24h"
        "  (policy daily: freshness <= 24h)"
    )


def test_alerts_that_were_let_through_are_told_below_the_list() -> None:
    """The dataset is well, and still somebody promised something else."""
    alert = Breach(
        policy="owned",
        expression="owner in [others]",
        enforcement=Enforcement.ALERT,
        message="owner is tests\x1b",
    )
    status = models.status().model_copy(update={"alerts": (alert,)})
    assert badge_of(status) is Badge.OK
    output = [click.unstyle(line) for line in status_lines([Health(status)], models.NOW)]
    assert output[3] == (
        "alert: silver.flights v1  owner is tests\\x1b  (policy owned: owner in [others])"
    )


def test_an_empty_registry_says_what_to_do() -> None:
    assert status_lines([], models.NOW)[-1] == "Next: lakeguard apply"


def test_what_a_rollback_shows_is_marked_until_the_next_publish() -> None:
    back = models.status().model_copy(update={"rolled_back": True})
    assert badge_of(back) is Badge.ROLLED_BACK
    blocked = back.model_copy(update={"last_run": models.run_row(RunStatus.BLOCKED)})
    assert badge_of(blocked) is Badge.BLOCKED
    assert badge_of(models.status()) is Badge.OK
    assert badge_of(models.status(published=None)) is Badge.EMPTY


def stream_parts(state: StreamState, *sources: Backlog, **fields: object) -> list[str]:
    """What is shown below the list of a query that was reported five seconds ago."""
    progress = StreamProgress(
        batch=41,
        ended_at=models.NOW - timedelta(minutes=1),
        seconds=2.5,
        rows=1_200,
        sources=sources,
    )
    known = {"progress": progress, "reported_at": models.NOW - timedelta(seconds=5), **fields}
    stream = StreamStatus.model_validate({"query_id": "q-1", "state": state, **known})
    shown = models.status().model_copy(update={"streams": (stream,)})
    (line,) = [
        each for each in status_lines([Health(shown)], models.NOW) if each.startswith("stream: ")
    ]
    assert line.startswith("stream: silver.flights  ")
    assert line.endswith("  (query q-1)")
    return line.removeprefix("stream: silver.flights  ").removesuffix("  (query q-1)").split("; ")


def test_a_stream_is_shown_with_its_last_micro_batch_and_its_backlog() -> None:
    ended = "micro-batch 41 ended 1 min ago with 1,200 rows"
    kafka = Backlog(source="KafkaV2", rows=1_200, amount=3_400, unit="offsets")
    files = Backlog(source="FileStreamSource", rows=0)
    assert stream_parts(StreamState.RUNNING, kafka, files) == [
        "running",
        ended,
        "3,400 offsets behind",
    ]
    read = kafka.model_copy(update={"amount": 0})
    assert stream_parts(StreamState.ENDED, read) == ["ended", ended, "caught up"]
    assert stream_parts(StreamState.RUNNING, files)[-1] == "backlog not reported by its source"
    assert stream_parts(StreamState.RUNNING, progress=None) == ["running", "no micro-batch yet"]


def test_a_stream_that_stopped_says_why() -> None:
    blocked = stream_parts(StreamState.BLOCKED, error="range(n) failed\nmore")
    assert blocked[0] == "blocked: range(n) failed"
    gone = stream_parts(StreamState.RUNNING, lost="its process 7 on host is gone")
    assert gone[0] == "lost: its process 7 on host is gone, last report 5 s ago"
