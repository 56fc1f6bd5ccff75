"""A column of a dataset and a column of its load may have one name, at different times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import HashStrategy, Layer, LoadType, PolicyType
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, FromPython
from lakeguard_sdk.model.evidence import Changes, InputVersion
from lakeguard_sdk.model.lineage import BatchColumn, BatchLineage, SourceColumn
from lakeguard_sdk.model.load import Load, load_columns
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    TOTALS,
    numbers,
    opened,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")

FORBIDDEN = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.GOLD)
UNLESS_MASKED = promise(
    PolicyType.PII, "forbid tag:pii unless masked by [sha2]", applies_to_layer=Layer.GOLD
)
N = ColumnDefinition(name="n", type="long")
MAIL = ColumnDefinition(name="mail", type="string", tags=("pii",))
BORN = ColumnDefinition(name="born", type="timestamp", tags=("pii",))
PEOPLE = numbers(columns=(N, MAIL, BORN))
PYTHON = FromPython(file="build.py", function="build", sha256="0" * 64)
PLAIN = Load(type=LoadType.INCREMENTAL, keys=("n",))
FULL = Load(type=LoadType.FULL)
ROW_HASH = PLAIN.model_copy(update={"hash": HashStrategy.ROW_HASH})
KEY_HASH = PLAIN.model_copy(update={"hash": HashStrategy.KEY_HASH})
HISTORY = Load(type=LoadType.SCD2, keys=("n",), effective="born")


def named(name: str, type: str = "string") -> ColumnDefinition:
    return ColumnDefinition(name=name, type=type)


def silver(load: Load, *columns: ColumnDefinition) -> DatasetDefinition:
    return numbers(
        dataset=DOUBLED, parents=(NUMBERS,), build=PYTHON, columns=(N, *columns), load=load
    )


GOLD = numbers(dataset=TOTALS, parents=(DOUBLED,), build=PYTHON, columns=(named("z"),), load=FULL)


def made_of(client: Client, parent: DatasetName, **columns: str) -> BatchLineage:
    """Each column is one of the published version of the parent."""
    newest = max(row.version for row in client.reader.versions(parent))
    dataset_id = client.reader.dataset(parent).dataset_id
    pin = InputVersion(dataset=parent, dataset_id=dataset_id, version=newest)
    found = (
        BatchColumn(
            column=name,
            sources=(SourceColumn(dataset_id=dataset_id, version=newest, column=column),),
        )
        for name, column in columns.items()
    )
    return BatchLineage(columns=tuple(found), inputs=(pin,), read=(pin,))


def publish(client: Client, name: DatasetName, lineage: BatchLineage, number: int = 1) -> Decision:
    plan, lake = opened(client, name), DeltaLake()
    plan = plan.under(client.runs.submit_schema(plan.ticket, plan.declared, lineage))
    keyed = plan.load.type is not LoadType.FULL
    changes = {"changes": Changes(inserted=1)} if keyed else {}
    evidence = evidence_of(lake, plan, [number]).model_copy(update=changes)
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    if decision.allowed:
        client.runs.complete_move(plan.ticket, lake.publish(client.runs.begin_move(plan.ticket)))
    return decision


def started(folder: Path, definition: DatasetDefinition, policy: Any, **columns: str) -> Client:
    """The dataset in silver is published once; its columns are those of the parent."""
    client = world(folder, PEOPLE, definition, GOLD, policies=(policy,))
    run_by_hand(client, [1])
    assert publish(client, DOUBLED, made_of(client, NUMBERS, n="n", **columns)).allowed
    return client


def reads(client: Client, column: str) -> bool:
    """Whether the policy lets a Python build of the column pass."""
    return publish(client, TOTALS, made_of(client, DOUBLED, z=column)).allowed


@pytest.mark.parametrize("policy", [FORBIDDEN, UNLESS_MASKED])
@pytest.mark.parametrize(("load", "column"), [(ROW_HASH, "row_hash"), (KEY_HASH, "key_hash")])
def test_rows_of_a_column_keep_their_tags_when_the_load_takes_its_name(
    tmp_path: Path, load: Load, column: str, policy: Any
) -> None:
    client = started(tmp_path, silver(PLAIN, named(column)), policy, **{column: "mail"})
    revise(client, silver(load))
    assert publish(client, DOUBLED, made_of(client, NUMBERS, n="n"), 2).allowed
    assert not reads(client, column)


@pytest.mark.parametrize(
    ("load", "column", "policy", "allowed"),
    [
        (ROW_HASH, "row_hash", FORBIDDEN, False),
        (ROW_HASH, "row_hash", UNLESS_MASKED, True),
        (HISTORY, "valid_from", UNLESS_MASKED, False),
    ],
)
def test_what_a_load_wrote_keeps_its_tags_when_a_column_takes_its_name(
    tmp_path: Path, load: Load, column: str, policy: Any, allowed: bool
) -> None:
    born = named("born", "timestamp")
    client = started(tmp_path, silver(load, born), policy, born="born")
    made = [ColumnDefinition(name=item.name, type=item.type) for item in load_columns(load)]
    revise(client, silver(PLAIN, born, *made))
    lineage = made_of(client, NUMBERS, n="n", born="born", **{item.name: "n" for item in made})
    assert publish(client, DOUBLED, lineage, 2).allowed
    assert reads(client, column) is allowed


def test_a_full_load_replaces_the_rows_of_the_column(tmp_path: Path) -> None:
    column = named("row_hash")
    client = started(tmp_path, silver(PLAIN, column), FORBIDDEN, row_hash="mail")
    full = ROW_HASH.model_copy(update={"type": LoadType.FULL, "keys": ()})
    revise(client, silver(full))
    assert publish(client, DOUBLED, made_of(client, NUMBERS, n="n"), 2).allowed
    assert reads(client, "row_hash")


@pytest.mark.parametrize("column", ["row_hash", "key_hash"])
def test_a_column_is_no_digest_by_its_name(tmp_path: Path, column: str) -> None:
    client = started(tmp_path, silver(FULL, named(column)), UNLESS_MASKED, **{column: "mail"})
    assert not reads(client, column)


def test_a_column_called_star_stands_for_itself_alone(tmp_path: Path) -> None:
    """A column of unknown lineage carries the tags of all columns of what was read."""
    definition = silver(FULL, named("made"), named("*"))
    people = numbers(columns=(N, MAIL, BORN, named("*")))
    client = world(tmp_path, people, definition, GOLD, policies=(FORBIDDEN,))
    run_by_hand(client, [1])
    lineage = made_of(client, NUMBERS, n="n", **{"*": "*"})
    assert publish(client, DOUBLED, lineage).allowed  # says nothing of the column made
    assert reads(client, "*")
    assert not reads(client, "made")
    edges = client.reader.column_lineage(DOUBLED)
    found = {edge.column: edge.input_column for edge in edges}
    assert (found["*"], found["made"]) == ("*", None)
