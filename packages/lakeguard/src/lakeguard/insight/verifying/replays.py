"""REPLAY: every decision, made again from what it was made on, comes out the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, select

from lakeguard.insight.replaying import Replayer
from lakeguard.state.database import Database
from lakeguard.state.tables import decisions, documents
from lakeguard_sdk.decision import CaseHashes
from lakeguard_sdk.proof import Finding, FindingKind

_AT_ONCE = 400


class Library:
    """Documents by hash: those of the decisions at hand are fetched together."""

    def __init__(self, org_id: str) -> None:
        self._org_id = org_id
        self._texts: dict[str, str] = {}

    def fetch(self, connection: Connection, hashes: set[str]) -> None:
        """Forget what is not wanted any more, and get what is new."""
        self._texts = {key: text for key, text in self._texts.items() if key in hashes}
        missing, table = sorted(hashes - self._texts.keys()), documents.c
        for start in range(0, len(missing), _AT_ONCE):
            some = table.content_hash.in_(missing[start : start + _AT_ONCE])
            asked = select(table.content_hash, table.body).where(table.org_id == self._org_id, some)
            self._texts.update((row.content_hash, row.body) for row in connection.execute(asked))

    def __call__(self, content_hash: str) -> str:
        return self._texts[content_hash]


def replay_findings(database: Database, org_id: str) -> Iterator[Finding]:
    """Decided again between the readings, never within one."""
    library = Library(org_id)
    replayer = Replayer(library)
    asked = select(decisions).where(decisions.c.org_id == org_id)
    last = ""
    while True:
        later = asked.where(decisions.c.decision_id > last).order_by(decisions.c.decision_id)
        with database.read() as connection:
            rows = connection.execute(later.limit(_AT_ONCE)).all()
            library.fetch(connection, _hashes(rows))
        if not rows:
            return
        for row in rows:
            if said := _difference(replayer, row):
                place = f"decisions {row.decision_id}"
                yield Finding(kind=FindingKind.REPLAY, place=place, message=said)
        last = rows[-1].decision_id


def _difference(replayer: Replayer, row: Row[Any]) -> str | None:
    case = CaseHashes(
        facts=row.facts_hash,
        evidence=row.evidence_hash,
        ruleset=row.ruleset_hash,
        policies=row.policies_hash,
        history=row.history_hash,
    )
    try:
        again = replayer.decide_again(case, row.decided_at, row.semantics)
    except KeyError as error:
        return f"cannot be made again: document {error.args[0]} is gone"
    except (ValidationError, ValueError, TypeError):
        return "cannot be made again: a document that it was made on is not readable"
    if again.to_json() == row.ruling:
        return None
    if again.verdict.value != row.verdict:
        return f"recorded as {row.verdict}, comes out as {again.verdict.value}"
    return f"the verdict {row.verdict} is the same, but its checks or reasons are not"


def _hashes(rows: Sequence[Row[Any]]) -> set[str]:
    named = ("facts_hash", "evidence_hash", "ruleset_hash", "policies_hash", "history_hash")
    return {row._mapping[name] for row in rows for name in named} - {None}
