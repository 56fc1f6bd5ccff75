"""Rows of an adopted table: nobody shows what they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import Layer, Outcome, PolicyType, RunStatus
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromFrame,
    FromSql,
    PolicyDefinition,
)
from lakeguard_sdk.model.run import RunResult
from tests.contract.privacy.test_batch_lineage import (
    FORBIDDEN,
    PARENT,
    frame,
    from_mail,
    gold,
    gold_check,
    publish,
)
from tests.support.lakes.foreign_tables import adopt, foreign_numbers
from tests.support.lakes.policy_datasets import DOUBLED, numbers, promise, promised, world
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import location_of

IN_SILVER = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
BUILDS = {
    "a SELECT": FromSql(file="b.sql", text=f"SELECT n FROM {NUMBERS}"),
    "a frame": FromFrame(),
}


def started(folder: Path, *others: DatasetDefinition, policy: Any, **changes: Any) -> Client:
    """A tagged parent with a version, and a table of others that waits for its adoption."""
    place = location_of(foreign_numbers(folder, [1]))
    given = {"dataset": DOUBLED, "parents": (NUMBERS,), "location": place, **changes}
    client = world(folder / "lake", PARENT, numbers(**given), *others, policies=(policy,))
    assert run_by_hand(client, [1]).version == 1
    return client


def check_of(result: RunResult) -> CheckResult:
    assert result.decision is not None
    return promised(result.decision.ruling.checks)


@pytest.mark.parametrize("build", BUILDS)
def test_they_carry_all_tags_of_the_parents(tmp_path: Path, build: str) -> None:
    client = started(tmp_path, policy=IN_SILVER, build=BUILDS[build])
    result = adopt(client, DOUBLED)
    assert (result.status, result.version) == (RunStatus.BLOCKED, None)
    assert "bronze.numbers.mail" in check_of(result).message


@pytest.mark.parametrize("build", BUILDS)
def test_what_is_built_of_them_carries_the_tags_too(tmp_path: Path, build: str) -> None:
    client = started(tmp_path, gold(), policy=FORBIDDEN, build=BUILDS[build])
    assert adopt(client, DOUBLED).version == 1
    assert gold_check(client).outcome is Outcome.FAIL


def test_a_column_that_a_person_declares_clean_carries_none(tmp_path: Path) -> None:
    columns = (ColumnDefinition(name="n", type="long", clean="counted by hand"),)
    client = started(tmp_path, policy=IN_SILVER, build=FromFrame(), columns=columns)
    assert adopt(client, DOUBLED).version == 1


@pytest.mark.parametrize("parents", [(), (NUMBERS,)])
def test_they_are_an_unknown_input(tmp_path: Path, parents: tuple[DatasetName, ...]) -> None:
    known: PolicyDefinition = promise(
        PolicyType.LINEAGE_PARENT, "inputs known", applies_to_layer=Layer.SILVER
    )
    client = started(tmp_path, policy=known, build=FromFrame(), parents=parents)
    result = adopt(client, DOUBLED)
    assert result.status is RunStatus.BLOCKED
    assert check_of(result).message == "unknown input: rows of an adopted table"


@pytest.mark.parametrize("tags", [(), ("pii",)])
def test_they_carry_what_a_parent_inherited(tmp_path: Path, tags: tuple[str, ...]) -> None:
    """The parent declares no tag itself: it has that of its own parent."""
    copy, place = DatasetName("silver.copy"), location_of(foreign_numbers(tmp_path, [1]))
    parent = frame(columns=(ColumnDefinition(name="n", type="long", tags=tags),))
    build = FromSql(file="b.sql", text=f"SELECT count(*) AS n FROM {DOUBLED}")
    adopted = numbers(dataset=copy, parents=(DOUBLED,), location=place, build=build)
    client = world(tmp_path / "lake", PARENT, parent, adopted, gold(copy), policies=(FORBIDDEN,))
    assert run_by_hand(client, [1]).version == 1
    assert publish(client, from_mail(client)).version == 1
    assert adopt(client, copy).version == 1
    assert gold_check(client).outcome is Outcome.FAIL


@pytest.mark.parametrize("build", BUILDS)
def test_a_parent_without_a_version_blocks_the_adoption(tmp_path: Path, build: str) -> None:
    place = location_of(foreign_numbers(tmp_path, [1]))
    given = {"dataset": DOUBLED, "parents": (NUMBERS,), "location": place, "build": BUILDS[build]}
    client = world(tmp_path / "lake", PARENT, numbers(**given), policies=(IN_SILVER,))
    result = adopt(client, DOUBLED)
    assert (result.status, result.version) == (RunStatus.BLOCKED, None)
    assert f"{NUMBERS} has no published version" in str(result.decision)
