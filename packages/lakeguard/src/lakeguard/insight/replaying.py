"""Replay: the recorded inputs through the gate again, compared byte for byte."""

from __future__ import annotations

import json

from sqlalchemy import Connection

from lakeguard.gate.decide import CaseFacts, History, decide
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import get_document
from lakeguard_sdk.definition import PolicyDefinition, RuleDefinition
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.reading import ReplayResult


def replay_decision(
    connection: Connection, org_id: str, run_id: str, dataset: DatasetName
) -> ReplayResult:
    decision = decision_of_run(connection, org_id, run_id, dataset)
    if decision is None:
        raise UnknownRun(run=f"{run_id} with a decision")
    case = decision.case
    rules = json.loads(get_document(connection, org_id, case.ruleset))
    policies = json.loads(get_document(connection, org_id, case.policies))
    again = decide(
        CaseFacts.from_json(get_document(connection, org_id, case.facts)),
        None
        if case.evidence is None
        else Evidence.from_json(get_document(connection, org_id, case.evidence)),
        tuple(RuleDefinition.model_validate(rule) for rule in rules),
        tuple(PolicyDefinition.model_validate(policy) for policy in policies),
        History.from_json(get_document(connection, org_id, case.history)),
        decision.ruling.decided_at,
    )
    recorded, replayed = decision.ruling.to_json(), again.to_json()
    return ReplayResult(
        run_id=run_id,
        decision_id=decision.decision_id,
        identical=recorded == replayed,
        recorded=recorded,
        replayed=replayed,
    )
