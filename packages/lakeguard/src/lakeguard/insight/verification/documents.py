"""DOCUMENT: inputs of decisions exist unaltered, and their rulings are readable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, Select, Table, and_, select

from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import (
    data_versions,
    decisions,
    documents,
    run_openings,
    run_schemas,
    task_attempts,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant, hash_bytes
from lakeguard_sdk.model.verification import Finding, FindingKind

_AT_ONCE = 5_000
_NAMING: dict[Table, tuple[str, ...]] = {
    decisions: ("facts_hash", "evidence_hash", "ruleset_hash", "policies_hash", "history_hash"),
    run_openings: ("plan_hash", "pinned_hash", "bundle_hash"),
    run_schemas: ("live_hash", "verdict_hash", "lineage_hash"),
    task_attempts: ("config_hash",),
    data_versions: ("position_hash",),
}
"""Columns that reference a document."""


def document_findings(state: OrganisationState) -> Iterator[Finding]:
    yield from _altered(state)
    for table, names in _NAMING.items():
        for name in names:
            with state.read() as tx:
                missing = list(_missing(tx, table, table.c[name]))
            yield from missing
    yield from _rulings(state)


def _altered(state: OrganisationState) -> Iterator[Finding]:
    table = documents.c
    asked = select(table.content_hash, table.body).where(table.org_id == state.org_id)
    for content_hash, body in _in_pages(state, asked, table.content_hash, _AT_ONCE):
        found = hash_bytes(body.encode())
        if found != content_hash:
            yield _finding(f"documents {content_hash}", f"its content hashes to {found}")


def _missing(tx: Transaction, table: Table, column: Column[str]) -> Iterator[Finding]:
    found = and_(documents.c.org_id == table.c.org_id, documents.c.content_hash == column)
    nowhere = (
        select(*table.primary_key, column)
        .join_from(table, documents, found, isouter=True)
        .where(table.c.org_id == tx.org_id, column.is_not(None), documents.c.content_hash.is_(None))
    )
    for *key, content_hash in tx.execute(nowhere):
        place = f"{table.name} {', '.join(map(str, key))}"
        yield _finding(place, f"{column.name} names {content_hash}, which is not there")


def _rulings(state: OrganisationState) -> Iterator[Finding]:
    table = decisions.c
    named = (table.decision_id, table.verdict, table.semantics, table.decided_at, table.ruling)
    asked = select(*named).where(table.org_id == state.org_id)
    for decision_id, verdict, semantics, decided_at, ruling in _in_pages(
        state, asked, table.decision_id, _AT_ONCE
    ):
        expected = (verdict, semantics, format_instant(decided_at))
        try:
            recorded = json.loads(ruling)
            found = (recorded["verdict"], recorded["semantics"], recorded["decided_at"])
        except (ValueError, KeyError, TypeError):
            yield _finding(f"decisions {decision_id}", "its ruling is not readable")
            continue
        if found != expected:
            message = f"expected a ruling of {expected}, found one of {found}"
            yield _finding(f"decisions {decision_id}", message)


def _finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.DOCUMENT, place=place, message=message)


# Paging: rows are read in many short transactions, so that writers do not wait for processing.


def _in_pages(
    state: OrganisationState, asked: Select[Any], key: Column[str], size: int
) -> Iterator[Sequence[Any]]:
    """All rows in the order of ``key``, the first column."""
    last = ""
    while True:
        page = asked.where(key > last).order_by(key).limit(size)
        with state.read() as tx:
            rows = tx.execute(page).all()
        yield from rows
        if len(rows) < size:
            return
        last = rows[-1][0]
