"""Turning a case into a recorded decision."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.gate.decide import CaseFacts, decide
from lakeguard.ledger.decisions import record_decision
from lakeguard.ledger.documents import put_document
from lakeguard.ledger.promotions import record_evaluation
from lakeguard.ledger.waivers import waivers_in_force
from lakeguard.promotion.heart import Heart, PinnedRules
from lakeguard.promotion.history import earlier_values
from lakeguard_sdk.decision import CaseHashes, Decision
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.words import SOURCE_LAYER


def decide_and_record(
    connection: Connection,
    heart: Heart,
    run_id: str,
    dataset_id: str,
    from_layer: str,
    facts: CaseFacts,
    evidence: Evidence | None,
    pinned: PinnedRules,
) -> Decision:
    """Decide on exactly what is stored beside the decision, so that a replay sees the same."""
    history = earlier_values(connection, heart, dataset_id, pinned.rules, facts.declared)
    at = heart.clock()
    waivers = waivers_in_force(connection, dataset_id, at)
    facts = facts.model_copy(update={"waivers": waivers})
    ruling = decide(facts, evidence, pinned.rules, pinned.policies, history, at)
    org_id = heart.org_id
    decision = Decision(
        decision_id=new_id("dec"),
        run_id=run_id,
        dataset=facts.dataset,
        dataset_id=dataset_id,
        ruling=ruling,
        case=CaseHashes(
            facts=put_document(connection, org_id, facts.to_data(), at),
            evidence=None
            if evidence is None
            else put_document(connection, org_id, evidence.to_data(), at),
            ruleset=put_document(connection, org_id, [rule.to_data() for rule in pinned.rules], at),
            policies=put_document(
                connection, org_id, [policy.to_data() for policy in pinned.policies], at
            ),
            history=put_document(connection, org_id, history.to_data(), at),
        ),
    )
    record_decision(connection, org_id, decision)
    record_evaluation(connection, org_id, decision, from_layer)
    return decision


def from_layer(definition: DatasetDefinition) -> str:
    """The nearest layer that the dataset is built from, its own included; else the source."""
    layers = sorted({parent.layer for parent in definition.parents}, key=lambda item: item.height)
    below = [layer for layer in layers if layer.height < definition.dataset.layer.height]
    nearest = (below or layers)[-1:]
    return nearest[0].value if nearest else SOURCE_LAYER
