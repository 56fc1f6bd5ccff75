"""Decisions and what they say of a dataset's promotability."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from lakeguard.state import facts
from lakeguard.state.tables import decisions, promotion_status
from lakeguard_sdk.decision import CaseHashes, Decision, Ruling
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.words import PromotionState, Verdict


def record_decision(connection: Connection, org_id: str, decision: Decision) -> None:
    """Write the decision once; its run can have no other."""
    ruling = decision.ruling
    row = {
        "decision_id": decision.decision_id,
        "org_id": org_id,
        "run_id": decision.run_id,
        "dataset_id": decision.dataset_id,
        "verdict": ruling.verdict.value,
        "semantics": ruling.semantics,
        "facts_hash": decision.case.facts,
        "evidence_hash": decision.case.evidence,
        "ruleset_hash": decision.case.ruleset,
        "policies_hash": decision.case.policies,
        "history_hash": decision.case.history,
        "decided_at": ruling.decided_at,
        "ruling": ruling.to_json(),
    }
    facts.record(connection, decisions, [row], ruling.decided_at)


def record_promotion(
    connection: Connection, org_id: str, decision: Decision, from_layer: str, state: PromotionState
) -> None:
    """Append to the history of "yes" and "no"."""
    row = {
        "dataset_id": decision.dataset_id,
        "from_layer": from_layer,
        "to_layer": decision.dataset.layer.value,
        "allowed": decision.ruling.verdict is Verdict.ALLOWED,
        "evaluated_at": decision.ruling.decided_at,
        "reason": "; ".join(decision.ruling.reasons) or "all checks passed",
        "org_id": org_id,
        "state": state.value,
        "run_id": decision.run_id,
        "decision_id": decision.decision_id,
    }
    facts.record(connection, promotion_status, [row], decision.ruling.decided_at)


def decision_of_run(
    connection: Connection, org_id: str, run_id: str, dataset: DatasetName
) -> Decision | None:
    row = connection.execute(
        select(decisions).where(decisions.c.org_id == org_id, decisions.c.run_id == run_id)
    ).first()
    return None if row is None else _decision(row, dataset)


def discarded_runs(connection: Connection, dataset_id: str) -> frozenset[str]:
    """Runs of which nothing that was staged may be kept."""
    table = decisions.c
    rows = connection.execute(
        select(table.run_id, table.ruling).where(
            table.dataset_id == dataset_id, table.ruling.contains('"discard":true')
        )
    )
    return frozenset(row.run_id for row in rows if Ruling.from_json(row.ruling).discard)


def decision_by_id(
    connection: Connection, org_id: str, decision_id: str, dataset: DatasetName
) -> Decision:
    row = connection.execute(
        select(decisions).where(
            decisions.c.org_id == org_id, decisions.c.decision_id == decision_id
        )
    ).one()
    return _decision(row, dataset)


def _decision(row: Row[Any], dataset: DatasetName) -> Decision:
    return Decision(
        decision_id=row.decision_id,
        run_id=row.run_id,
        dataset=dataset,
        dataset_id=row.dataset_id,
        ruling=Ruling.from_json(row.ruling),
        case=CaseHashes(
            facts=row.facts_hash,
            evidence=row.evidence_hash,
            ruleset=row.ruleset_hash,
            policies=row.policies_hash,
            history=row.history_hash,
        ),
    )
