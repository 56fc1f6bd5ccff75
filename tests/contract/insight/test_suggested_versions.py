"""Suggestions are held against the versions that led to the published one, each as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard.insight.suggestions import VersionResult
from lakeguard.services.suggest_rules import Suggested, rules_for
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import Outcome
from tests.support.lakes.past_runs import past_project, past_run, with_rules
from tests.support.projects.planes import NUMBERS

DRIFT = "null_drift(n, max=5%)"


def published(folder: Path, *versions: list[Any]) -> Client:
    client = past_project(folder, with_rules())
    for numbers in versions:
        assert past_run(client, numbers).allowed
    return client


def suggested(client: Client, count: int = 5) -> Suggested:
    return rules_for(client, NUMBERS, count, lambda _: None)


def drift(client: Client, count: int = 5) -> tuple[VersionResult, ...]:
    (found,) = [item for item in suggested(client, count).suggestions if item.rule == DRIFT]
    return found.results


def version_outcomes(held: tuple[VersionResult, ...]) -> list[tuple[int, Outcome]]:
    return [(each.version, each.outcome) for each in held]


def numbers(rows: int, gaps: int) -> list[Any]:
    return [*range(rows - gaps), *([None] * gaps)]


def test_what_a_rollback_took_away_says_nothing(tmp_path: Path) -> None:
    client = published(tmp_path, [1, 2], [3, 4])
    client.operations.rollback(NUMBERS, 1, "back")
    assert suggested(client).versions == (1,)
    past_run(client, [5, 6])
    assert suggested(client).versions == (3, 1)
    assert suggested(client, 1).versions == (3,)


def test_a_version_that_is_shown_again_is_the_first(tmp_path: Path) -> None:
    client = published(tmp_path, [1], [2], [3])
    client.operations.rollback(NUMBERS, 2, "back")
    assert suggested(client).versions == (2, 1)


def test_what_has_nothing_before_it_is_not_compared(tmp_path: Path) -> None:
    client = published(tmp_path, numbers(100, 10), numbers(100, 40), numbers(100, 41))
    held = drift(client)
    assert version_outcomes(held) == [
        (3, Outcome.PASS),
        (2, Outcome.WARN),
        (1, Outcome.NOT_EVALUATED),
    ]
    assert held[-1].message == "not compared"


def test_the_oldest_that_is_looked_at_is_held_against_the_one_before(tmp_path: Path) -> None:
    versions = numbers(100, 10), numbers(100, 40), numbers(100, 40), numbers(100, 41)
    client = published(tmp_path, *versions)
    assert version_outcomes(drift(client, 3)) == [
        (4, Outcome.PASS),
        (3, Outcome.PASS),
        (2, Outcome.WARN),
    ]


def test_versions_without_rows_are_stepped_over(tmp_path: Path) -> None:
    client = published(tmp_path, numbers(100, 10), [], numbers(100, 12))
    assert version_outcomes(drift(client)) == [
        (3, Outcome.PASS),
        (2, Outcome.NOT_EVALUATED),
        (1, Outcome.NOT_EVALUATED),
    ]


def test_a_growth_that_is_too_large_is_not_suggested(tmp_path: Path) -> None:
    """Though there is an empty version in between."""
    client = published(tmp_path, numbers(100, 10), [], numbers(100, 90))
    assert DRIFT not in {item.rule for item in suggested(client).suggestions}
