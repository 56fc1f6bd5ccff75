"""Definitions that are revised while a run brings columns: none of what it publishes is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lakeguard.plane import open_state
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import ColumnsInFlight, DefinitionChanged
from lakeguard_sdk.model.definitions import ColumnDefinition, Definitions
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Failure, Intent, RunPlan
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.fakes.killed_at import meanwhile
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

N = Column(name="n", type="long")
LIVE = TableSchema(columns=(N, Column(name="row_hash", type="string")))
ADDITIVE = numbers(profile="additive")
HASHED = numbers(profile="additive", load=Load(type=LoadType.FULL, hash="ROW_HASH"))
"""A definition that takes no ``row_hash``: its load writes a column of that name."""
DESCRIBED = numbers(profile="additive", description="Numbers.")


def decided(client: Client) -> RunPlan:
    """A run that may publish a column that no definition has yet."""
    plan = opened(client)
    plan = plan.under(client.runs.submit_schema(plan.ticket, LIVE))
    assert plan.declared == LIVE
    decision = client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1]))
    assert decision.allowed, decision.ruling.reasons
    return plan


def complete(client: Client, plan: RunPlan, intent: Intent) -> RunStatus:
    return client.runs.complete_move(plan.ticket, DeltaLake().publish(intent)).status


def test_a_move_is_refused_that_the_definition_no_longer_takes(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = decided(client)
    revise(client, HASHED)
    with pytest.raises(DefinitionChanged, match=r"bronze\.numbers .*row_hash") as refusal:
        client.runs.begin_move(plan.ticket)
    assert refusal.value.retryable
    assert refusal.value.next_step == "lakeguard run bronze.numbers"
    failure = Failure(code=refusal.value.code, message=str(refusal.value), retryable=True)
    assert client.runs.fail_run(plan.ticket, failure).status is RunStatus.FAILED
    assert client.reader.versions(NUMBERS) == []


def test_the_next_attempt_goes_by_the_definition_of_now(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = decided(client)
    revise(client, HASHED)
    client.runs.fail_run(plan.ticket, Failure(code="LG-4008", message="moved", retryable=True))
    again = opened(client)
    verdict = client.runs.submit_schema(again.ticket, LIVE)
    assert [str(item.reaction) for item in verdict.differences] == ["LEFT_OUT"]


def test_what_else_was_revised_meanwhile_counts_beside_the_columns(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = decided(client)
    revise(client, DESCRIBED)
    assert complete(client, plan, client.runs.begin_move(plan.ticket)) is RunStatus.SUCCESS
    definition = client.reader.definition(NUMBERS)
    assert (definition.description, definition.declared) == ("Numbers.", LIVE)


def test_no_definition_takes_a_column_from_a_move_under_way(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = decided(client)
    intent = client.runs.begin_move(plan.ticket)
    with pytest.raises(ColumnsInFlight, match="is publishing row_hash of") as refusal:
        revise(client, HASHED)
    assert refusal.value.retryable
    assert client.reader.definition(NUMBERS) == ADDITIVE, "nothing of it was written"
    revise(client, DESCRIBED)
    assert complete(client, plan, intent) is RunStatus.SUCCESS
    assert client.reader.definition(NUMBERS).declared == LIVE


def test_a_move_that_brings_nothing_new_stands_in_nobodys_way(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = opened(client)
    client.runs.submit_schema(plan.ticket, TableSchema(columns=(N,)))
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1]))
    intent = client.runs.begin_move(plan.ticket)
    revise(client, HASHED)
    assert complete(client, plan, intent) is RunStatus.SUCCESS


def test_a_person_may_declare_the_column_meanwhile(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = decided(client)
    intent = client.runs.begin_move(plan.ticket)
    given = ColumnDefinition(name="row_hash", type="string", description="Theirs.")
    revise(client, numbers(profile="additive", columns=(*ADDITIVE.columns, given)))
    assert complete(client, plan, intent) is RunStatus.SUCCESS
    assert client.reader.definition(NUMBERS).columns[-1] == given


def test_a_commit_stands_whatever_was_written_past_the_port(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = decided(client)
    intent = client.runs.begin_move(plan.ticket)
    revision = client.registry.plan(Definitions(datasets=(HASHED,)))
    database = open_state(load_settings(tmp_path))
    with OrganisationState.of(database, "default").write() as tx:
        apply_plan(tx, revision, "somebody", datetime.now(UTC), str(tmp_path))
    database.close()
    assert complete(client, plan, intent) is RunStatus.SUCCESS
    assert client.reader.definition(NUMBERS) == HASHED


def while_revised(client: Client, act: Callable[[], Any]) -> Any:
    """Somebody acts when a revision is written, and not yet to be seen."""
    with ThreadPoolExecutor(1) as beside:
        begun = []

        def begin() -> None:
            begun.append(beside.submit(act))
            wait(begun, timeout=5)

        with meanwhile("apply.written", begin):
            revise(client, DESCRIBED)
        return begun[0].result(60)


@pytest.mark.soak
def test_a_publish_waits_for_a_revision_of_the_same_moment(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    plan = decided(client)
    intent = client.runs.begin_move(plan.ticket)
    status = while_revised(client, lambda: complete(client, plan, intent))
    assert status is RunStatus.SUCCESS
    definition = client.reader.definition(NUMBERS)
    assert (definition.description, definition.declared) == ("Numbers.", LIVE)


def test_a_rollback_waits_for_a_revision_of_the_same_moment(tmp_path: Path) -> None:
    client = world(tmp_path, ADDITIVE)
    run_by_hand(client, [1])
    plan = decided(client)
    assert complete(client, plan, client.runs.begin_move(plan.ticket)) is RunStatus.SUCCESS
    points: list[str] = []
    stop = fault_points.listen(points.append)
    while_revised(client, lambda: client.operations.rollback(NUMBERS, 1, "a wrong file"))
    stop()
    assert points.count("complete.before") == 1, "it was completed at once"
    assert client.reader.definition(NUMBERS) == DESCRIBED
