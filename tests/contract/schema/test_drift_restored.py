"""Back over columns that drifted in, and forward again: the definition is as the table is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.schema_changes import ColumnOrigin
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    numbers,
    opened,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

N = ColumnDefinition(name="n", type="long")
MAIL = ColumnDefinition(name="e_mail", type="string", tags=("pii",))


def appended(*columns: ColumnDefinition, profile: str = "additive") -> DatasetDefinition:
    return numbers(load=LoadType.APPEND, profile=profile, columns=columns or (N,))


def live(**columns: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in columns.items()))


def publish(client: Client, found: TableSchema, added: list[int]) -> RunResult:
    """A run whose files leave to readers what is not a number."""
    plan = opened(client)
    verdict = client.runs.submit_schema(plan.ticket, found)
    assert verdict.accepted, verdict.differences
    plan, lake = plan.under(verdict), DeltaLake()
    evidence = evidence_of(lake, plan, added)
    if plan.base is not None:
        kept = lake.numbers(plan.location, plan.base.commit).elements()
        again = lake.stage(plan.location, f"{plan.staging}/again.parquet", list(kept))
        given = {
            "files": (*evidence.files, again),
            "removes": lake.files(plan.location, plan.base.commit),
            "changes": Changes(inserted=len(added)),
        }
        evidence = evidence.model_copy(update=given)
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    assert decision.allowed, decision.ruling.reasons
    return client.runs.complete_move(plan.ticket, lake.publish(client.runs.begin_move(plan.ticket)))


def test_forward_again_over_a_new_column(tmp_path: Path) -> None:
    client = world(tmp_path, appended())
    publish(client, live(n="long"), [1])
    publish(client, live(n="long", extra="string"), [2])
    grown = client.reader.definition(NUMBERS)
    client.operations.rollback(NUMBERS, 1, "a wrong file")
    assert client.reader.definition(NUMBERS) == appended()
    client.operations.rollback(NUMBERS, 2, "it was the right one")
    assert client.reader.definition(NUMBERS) == grown
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS, "the table has it, and stays"
    assert client.ledger.verify(replay=True).findings == ()


def test_forward_again_over_a_wider_type(tmp_path: Path) -> None:
    narrow = appended(N, ColumnDefinition(name="m", type="integer"), profile="backward")
    client = world(tmp_path, narrow)
    publish(client, live(n="long", m="integer"), [1])
    publish(client, live(n="long", m="long"), [2])
    client.operations.rollback(NUMBERS, 1, "a wrong file")
    assert client.reader.definition(NUMBERS).declared.type_of("m") == "integer"
    client.operations.rollback(NUMBERS, 2, "it was the right one")
    column = client.reader.definition(NUMBERS).columns[-1]
    assert (column.type, column.widened_from) == ("long", "integer")


def test_what_a_person_leaves_out_does_not_come_back(tmp_path: Path) -> None:
    client = world(tmp_path, appended())
    publish(client, live(n="long"), [1])
    publish(client, live(n="long", extra="string"), [2])
    client.operations.rollback(NUMBERS, 1, "a wrong file")
    without = appended().model_copy(update={"leave_out": ("extra",)})
    revise(client, without)
    client.operations.rollback(NUMBERS, 2, "to look at it")
    assert client.reader.definition(NUMBERS) == without


def test_what_a_person_dropped_does_not_come_back(tmp_path: Path) -> None:
    declared = numbers(columns=(N, ColumnDefinition(name="extra", type="string")))
    client = world(tmp_path, declared)
    publish(client, live(n="long", extra="string"), [1])
    revise(client, numbers())
    run_by_hand(client, [2])
    client.operations.rollback(NUMBERS, 1, "to look at it")
    assert client.reader.definition(NUMBERS) == numbers()


def test_a_new_name_keeps_the_tags_of_the_old(tmp_path: Path) -> None:
    client = world(tmp_path, appended(N, MAIL, profile="permissive"))
    publish(client, live(n="long", e_mail="string"), [1])
    publish(client, live(n="long", email="string"), [2])
    renamed = client.reader.definition(NUMBERS).columns[-1]
    assert (renamed.name, renamed.tags, renamed.origin) == ("email", ("pii",), ColumnOrigin.DRIFT)
    client.operations.rollback(NUMBERS, 1, "a wrong file")
    client.operations.rollback(NUMBERS, 2, "it was the right one")
    assert client.reader.definition(NUMBERS).columns[-1] == renamed
