"""Replay: recorded inputs through the gate again, compared byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Row, select

from lakeguard.gate.decide import SEMANTICS, CaseFacts, History, decide
from lakeguard.insight.history.documents import (
    MOST_TEXT,
    Documents,
    Library,
    Shelf,
)
from lakeguard.ledger.decisions import required_decision
from lakeguard.ledger.documents import get_document
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import decisions
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import SemanticsUnknown
from lakeguard_sdk.model.decision import CaseHashes, Ruling
from lakeguard_sdk.model.definitions import PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.read_models import ReplayResult, RunRow

_AT_ONCE = 400
_HASHES = ("facts_hash", "evidence_hash", "ruleset_hash", "policies_hash", "history_hash")


def replay_decision(tx: Transaction, run: RunRow) -> ReplayResult:
    decision = required_decision(tx, run)
    replayer = Replayer(lambda content_hash: get_document(tx, content_hash))
    again = replayer.decide_again(
        decision.case, decision.ruling.decided_at, decision.ruling.semantics
    )
    recorded, replayed = decision.ruling.to_json(), again.to_json()
    return ReplayResult(
        run_id=run.run_id,
        decision_id=decision.decision_id,
        identical=recorded == replayed,
        recorded=recorded,
        replayed=replayed,
    )


class RecordedCase(NamedTuple):
    """All inputs of a decision."""

    facts: CaseFacts
    evidence: Evidence | None
    rules: tuple[RuleDefinition, ...]
    policies: tuple[PolicyDefinition, ...]
    history: History


class Replayer:
    """Replays decisions; shared documents are parsed once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._facts = Shelf(documents, CaseFacts.from_json)
        self._history = Shelf(documents, History.from_json)
        self._rules = Shelf(documents, _rules)
        self._policies = Shelf(documents, _policies)

    def decide_again(self, case: CaseHashes, decided_at: datetime, semantics: int) -> Ruling:
        """Raises SemanticsUnknown for decisions of another semantics version."""
        if semantics != SEMANTICS:
            raise SemanticsUnknown(semantics=semantics, known=SEMANTICS)
        return decide(*self.case(case), decided_at)

    def case(self, hashes: CaseHashes) -> RecordedCase:
        """Raises KeyError if a document is missing."""
        evidence_hash = hashes.evidence
        return RecordedCase(
            self._facts(hashes.facts),
            None if evidence_hash is None else Evidence.from_json(self._documents(evidence_hash)),
            self._rules(hashes.ruleset),
            self._policies(hashes.policies),
            self._history(hashes.history),
        )


def recorded_decisions(
    state: OrganisationState, library: Library, *conditions: ColumnElement[bool]
) -> Iterator[Row[Any]]:
    """Decision rows by id, with their documents prefetched.

    The read transaction ends before rows are yielded, so that writers do not wait.
    """
    asked = select(decisions).where(decisions.c.org_id == state.org_id, *conditions)
    last = ""
    while True:
        later = asked.where(decisions.c.decision_id > last).order_by(decisions.c.decision_id)
        with state.read() as tx:
            rows = tx.execute(later.limit(_AT_ONCE)).all()
            sizes = library.sizes(tx, _named(rows))
        if not rows:
            return
        for some in in_portions(rows, sizes, MOST_TEXT):
            with state.read() as tx:
                library.fetch(tx, _named(some))
            yield from some
        last = rows[-1].decision_id


def in_portions(
    rows: Sequence[Row[Any]], sizes: Mapping[str, int], most: int
) -> Iterator[Sequence[Row[Any]]]:
    """Rows in order, grouped so that their documents are at most ``most`` characters; a larger one
    forms its own group."""
    some: list[Row[Any]] = []
    held: set[str] = set()
    length = 0
    for row in rows:
        more = _length(_named([row]) - held, sizes)
        if some and length + more > most:
            yield some
            some, held, length = [], set(), 0
            more = _length(_named([row]), sizes)
        some.append(row)
        held |= _named([row])
        length += more
    if some:
        yield some


def _length(hashes: set[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(key, 0) for key in hashes)


def difference(replayer: Replayer, row: Row[Any]) -> str | None:
    """Differences between a replayed decision and its record."""
    try:
        again = replayer.decide_again(case_of(row), row.decided_at, row.semantics)
    except SemanticsUnknown as error:
        return f"cannot be made again: {error}"
    except KeyError as error:
        return f"cannot be made again: document {error.args[0]} is gone"
    except (ValidationError, ValueError, TypeError):
        return "cannot be made again: a document that it was made on is not readable"
    if again.to_json() == row.ruling:
        return None
    if again.verdict.value != row.verdict:
        return f"recorded as {row.verdict}, comes out as {again.verdict.value}"
    return f"the verdict {row.verdict} is the same, but its checks or reasons are not"


def case_of(row: Row[Any]) -> CaseHashes:
    return CaseHashes(
        facts=row.facts_hash,
        evidence=row.evidence_hash,
        ruleset=row.ruleset_hash,
        policies=row.policies_hash,
        history=row.history_hash,
    )


def _rules(text: str) -> tuple[RuleDefinition, ...]:
    return tuple(map(RuleDefinition.model_validate, json.loads(text)))


def _policies(text: str) -> tuple[PolicyDefinition, ...]:
    return tuple(map(PolicyDefinition.model_validate, json.loads(text)))


def _named(rows: Sequence[Row[Any]]) -> set[str]:
    return {row._mapping[name] for row in rows for name in _HASHES} - {None}
