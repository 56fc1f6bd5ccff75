"""The health list: worst first, badge as word and shape."""

from __future__ import annotations

import click

from lakeguard.cli.rendering.status import (
    Badge,
    Health,
    badge_of,
    status_lines,
    worst_first,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Enforcement, RunStatus
from lakeguard_sdk.model.read_models import Breach
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
