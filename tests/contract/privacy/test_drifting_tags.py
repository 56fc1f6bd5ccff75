"""Columns that drift in: the tags that come with them, and the policies that they bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import (
    Layer,
    Outcome,
    PolicyType,
    Verdict,
)
from lakeguard_sdk.expressions.measures import CountIf, measure_key
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import ColumnDefinition, PolicyDefinition
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    built,
    end,
    numbers,
    opened,
    promise,
    promised,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")

N, EXTRA = Column(name="n", type="long"), Column(name="extra", type="string")
LIVE = TableSchema(columns=(N, EXTRA))
TAGGED = numbers(
    columns=(
        ColumnDefinition(name="n", type="long"),
        ColumnDefinition(name="extra", type="string", tags=("pii",)),
    )
)
IN_SILVER = {"applies_to_layer": Layer.SILVER}
FORBIDDEN = promise(PolicyType.PII, "forbid tag:pii", **IN_SILVER)


def silver(text: str = "SELECT * FROM bronze.numbers") -> Any:
    return built(text).model_copy(update={"profile": "additive"})


def below(folder: Path, policy: PolicyDefinition, text: str | None = None) -> Client:
    """A dataset into which the tagged column of its parent is about to drift."""
    client = world(folder, TAGGED, silver(text) if text else silver(), policies=(policy,))
    run_by_hand(client, [1])
    return client


def drifting(client: Client, name: DatasetName = DOUBLED, **given: Any) -> Decision:
    """A run that brings the column, decided on; what it decided replays."""
    plan = opened(client, name)
    verdict = client.runs.submit_schema(plan.ticket, LIVE)
    assert verdict.accepted, verdict.differences
    plan = plan.under(verdict)
    evidence = evidence_of(DeltaLake(), plan, [1])
    counts = {
        measure_key(m): given.get("found", 0) for m in plan.measures if isinstance(m, CountIf)
    }
    evidence = evidence.model_copy(update={"measures": {**evidence.measures, **counts}})
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    end(client, plan, decision)
    assert client.reader.replay(plan.ticket.run_id).identical
    return decision


def test_a_column_that_drifts_in_brings_its_tag(tmp_path: Path) -> None:
    decision = drifting(below(tmp_path, FORBIDDEN))
    assert decision.ruling.verdict is Verdict.BLOCKED
    message = promised(decision.ruling.checks).message
    assert message == "column extra derives from bronze.numbers.extra, tagged pii"


def test_a_column_that_drifts_in_masked_brings_none(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii unless masked by [sha2]", **IN_SILVER)
    masked = "SELECT n, sha2(extra, 256) AS extra FROM bronze.numbers"
    assert drifting(below(tmp_path, policy, masked)).allowed


def test_a_policy_over_the_tag_comes_with_the_column(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid columns [extra]", applies_to_tag="pii", **IN_SILVER)
    decision = drifting(below(tmp_path, policy))
    assert promised(decision.ruling.checks).outcome is Outcome.FAIL


def test_a_policy_that_comes_with_the_column_asks_for_its_measures(tmp_path: Path) -> None:
    text = "forbid pattern '[0-9]{3}' in values"
    policy = promise(PolicyType.PII, text, applies_to_tag="pii", **IN_SILVER)
    client = below(tmp_path, policy)
    assert drifting(client).allowed
    assert promised(drifting(client, found=1).ruling.checks).outcome is Outcome.FAIL


def test_a_policy_revised_since_the_run_opened_counts_from_the_next(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid columns [extra]", applies_to_tag="pii", **IN_SILVER)
    client = below(tmp_path, policy)
    plan = opened(client, DOUBLED)
    revise(client, policies=(policy.model_copy(update={"expression": "forbid columns [other]"}),))
    plan = plan.under(client.runs.submit_schema(plan.ticket, LIVE))
    decision = client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1]))
    assert promised(decision.ruling.checks).expression == "forbid columns [extra]"
    assert not decision.allowed


def test_a_pattern_is_looked_for_in_a_column_that_drifts_in(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid pattern '[0-9]{3}' in values")
    client = world(tmp_path, numbers(profile="additive"), policies=(policy,))
    decision = drifting(client, NUMBERS)
    assert promised(decision.ruling.checks).outcome is Outcome.PASS
    assert decision.allowed
    decision = drifting(client, NUMBERS, found=2)
    assert promised(decision.ruling.checks).message == "rows that contain the pattern: extra (2)"


def test_a_column_that_came_from_a_private_one_is_private(tmp_path: Path) -> None:
    client = below(tmp_path, FORBIDDEN, "SELECT n, extra AS other FROM bronze.numbers")
    plan = opened(client, DOUBLED)
    found = TableSchema(columns=(N, Column(name="other", type="string")))
    assert plan.private == ("extra",)
    plan = plan.under(client.runs.submit_schema(plan.ticket, found))
    assert plan.private == ("extra", "other")


def test_a_column_that_drifts_in_with_any_tag_is_private(tmp_path: Path) -> None:
    """No policy asks for it, and it is not personal."""
    extra = ColumnDefinition(name="extra", type="string", tags=("contact",))
    parent = numbers(columns=(ColumnDefinition(name="n", type="long"), extra))
    text = "SELECT n, extra AS other FROM bronze.numbers"
    client = world(tmp_path, parent, silver(text))
    run_by_hand(client, [1])
    plan = opened(client, DOUBLED)
    found = TableSchema(columns=(N, Column(name="other", type="string")))
    assert plan.masked == ()
    plan = plan.under(client.runs.submit_schema(plan.ticket, found))
    assert (plan.masked, plan.private) == (("other",), ("extra", "other"))
