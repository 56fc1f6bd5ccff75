"""Replay: the recorded inputs through the gate again, compared byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from lakeguard.gate.decide import CaseFacts, History, decide
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import get_document
from lakeguard_sdk.decision import CaseHashes, Ruling
from lakeguard_sdk.definition import PolicyDefinition, RuleDefinition
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.reading import ReplayResult

Documents = Callable[[str], str]
"""The text of a document by its content hash; KeyError where nothing has it."""


def replay_decision(
    connection: Connection, org_id: str, run_id: str, dataset: DatasetName
) -> ReplayResult:
    decision = decision_of_run(connection, org_id, run_id, dataset)
    if decision is None:
        raise UnknownRun(run=f"{run_id} with a decision")
    replayer = Replayer(lambda content_hash: get_document(connection, org_id, content_hash))
    again = replayer.decide_again(
        decision.case, decision.ruling.decided_at, decision.ruling.semantics
    )
    recorded, replayed = decision.ruling.to_json(), again.to_json()
    return ReplayResult(
        run_id=run_id,
        decision_id=decision.decision_id,
        identical=recorded == replayed,
        recorded=recorded,
        replayed=replayed,
    )


class Replayer:
    """Decides case after case; rules and policies that many cases share are read once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._rules: dict[str, tuple[RuleDefinition, ...]] = {}
        self._policies: dict[str, tuple[PolicyDefinition, ...]] = {}

    def decide_again(self, case: CaseHashes, decided_at: datetime, semantics: int) -> Ruling:
        """With the semantics of then; ValueError where this version does not know them."""
        return decide(
            CaseFacts.from_json(self._documents(case.facts)),
            None if case.evidence is None else Evidence.from_json(self._documents(case.evidence)),
            self._rules_of(case.ruleset),
            self._policies_of(case.policies),
            History.from_json(self._documents(case.history)),
            decided_at,
            semantics=semantics,
        )

    def _rules_of(self, content_hash: str) -> tuple[RuleDefinition, ...]:
        if content_hash not in self._rules:
            told = json.loads(self._documents(content_hash))
            self._rules[content_hash] = tuple(map(RuleDefinition.model_validate, told))
        return self._rules[content_hash]

    def _policies_of(self, content_hash: str) -> tuple[PolicyDefinition, ...]:
        if content_hash not in self._policies:
            told = json.loads(self._documents(content_hash))
            self._policies[content_hash] = tuple(map(PolicyDefinition.model_validate, told))
        return self._policies[content_hash]
