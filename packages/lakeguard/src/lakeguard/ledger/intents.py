"""Intents: numbered permissions to commit, and their outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, and_, func, select, true

from lakeguard.ledger.documents import put_text
from lakeguard.settings import FileCheck
from lakeguard.state import outbox
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.locks import hold
from lakeguard.state.schema import governed_tables, intent_outcomes, intents, run_history
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.delta_log import STAGING
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.storage.file_records import FileRecord


class IntentOutcome(StrEnum):
    COMMITTED = "committed"
    FENCED = "fenced"
    FOREIGN = "foreign"
    """Another commit took the number, so the approved one can never land."""


class TableHolder(NamedTuple):
    org_id: str
    dataset_id: str


class ClosedIntent(FrozenModel):
    intent_id: str
    outcome: IntentOutcome
    commit: int
    sha256: str
    checkpoint: str | None = None
    """The mark of the checkpoint that was written with the commit."""


class KnownCheckpoint(NamedTuple):
    """A checkpoint as it was when the move that wrote it was completed."""

    commit: int
    seq: int
    mark: str


def hold_table(tx: Transaction, dataset_id: str) -> None:
    """Serialise moves on a table. Lock order: task first, then table."""
    hold(tx, f"table:{dataset_id}")


def record_intent(tx: Transaction, intent: Intent) -> None:
    """Record the intent; a unique constraint refuses a second claim to its number."""
    at = tx.now()
    row = {
        "intent_id": intent.intent_id,
        "org_id": tx.org_id,
        "dataset_id": intent.dataset_id,
        "seq": intent.seq,
        "kind": intent.kind.value,
        "run_id": intent.run_id,
        "decision_id": intent.decision_id,
        "body": intent.to_json(),
        "opened_at": at,
    }
    outbox.record(tx, intents, [row], at)


def close_intent(tx: Transaction, closed: ClosedIntent) -> None:
    """Record the intent's final outcome."""
    at = tx.now()
    row = {
        "intent_id": closed.intent_id,
        "org_id": tx.org_id,
        "outcome": closed.outcome.value,
        "commit_version": closed.commit,
        "commit_sha256": closed.sha256,
        "closed_at": at,
        "checkpoint": closed.checkpoint,
    }
    outbox.record(tx, intent_outcomes, [row], at)


def next_seq(tx: Transaction, dataset_id: str) -> int:
    last = tx.scalar(select(func.max(intents.c.seq)).where(intents.c.dataset_id == dataset_id))
    return int(last or 0) + 1


def open_intent(tx: Transaction, dataset_id: str) -> Intent | None:
    """The open intent of the table, if any. It is the last: no number is taken while one is
    open."""
    row = tx.execute(
        select(intents.c.body, intent_outcomes.c.outcome)
        .join(intent_outcomes, intent_outcomes.c.intent_id == intents.c.intent_id, isouter=True)
        .where(intents.c.dataset_id == dataset_id)
        .order_by(intents.c.seq.desc())
        .limit(1)
    ).first()
    return None if row is None or row.outcome is not None else Intent.from_json(row.body)


def left_intent(tx: Transaction, dataset_id: str) -> Intent | None:
    """The open intent of a run that has ended, because the table's log could not be read."""
    intent = open_intent(tx, dataset_id)
    if intent is None:
        return None
    ended = tx.scalar(select(run_history.c.run_id).where(run_history.c.run_id == intent.run_id))
    return None if ended is None else intent


def open_publishes(tx: Transaction) -> list[tuple[str, str]]:
    """Runs that have an open intent and have not ended, with their dataset ids."""
    ended = select(run_history.c.run_id).where(run_history.c.run_id == intents.c.run_id)
    rows = tx.execute(
        select(intents.c.run_id, intents.c.dataset_id)
        .join(intent_outcomes, intent_outcomes.c.intent_id == intents.c.intent_id, isouter=True)
        .where(
            intents.c.org_id == tx.org_id,
            intents.c.kind == MoveKind.PUBLISH.value,
            intent_outcomes.c.intent_id.is_(None),
            ~ended.exists(),
        )
        .order_by(intents.c.run_id)
    )
    return [(str(row.run_id), str(row.dataset_id)) for row in rows]


def intent_of_run(tx: Transaction, run_id: str) -> Intent | None:
    return _intent(tx, select(intents.c.body).where(intents.c.run_id == run_id))


def adopted_files(tx: Transaction, dataset_id: str) -> tuple[StagedFile, ...]:
    """The files of an adopted table at its adoption, as they were checked."""
    query = select(intents.c.body).where(
        intents.c.dataset_id == dataset_id, intents.c.kind == MoveKind.ADOPTION.value
    )
    bodies = tx.scalars(query.order_by(intents.c.seq))
    return tuple(file for body in bodies for file in Intent.from_json(body).adds)


def file_records(
    tx: Transaction, table_id: str, paths: Iterable[str], check: FileCheck
) -> list[FileRecord]:
    """What the moves recorded of these files; with hashes only if ``check`` compares them."""
    wanted = set(paths)
    runs = {parts[1] for path in wanted if (parts := path.split("/"))[0] == STAGING}
    table = governed_tables.c
    owner = select(table.dataset_id).where(table.table_id == table_id).scalar_subquery()
    of_table = select(intents.c.body).where(intents.c.dataset_id == owner)
    queries = [of_table.where(intents.c.run_id.in_(piece)) for piece in in_pieces(sorted(runs))]
    if any(not path.startswith(f"{STAGING}/") for path in wanted):
        queries.append(of_table.where(intents.c.kind == MoveKind.ADOPTION.value))
    bodies = (body for query in queries for body in tx.scalars(query))
    files = (file for body in bodies for file in json.loads(body)["adds"])
    hashed = check is FileCheck.HASHES
    return [
        FileRecord(
            path=file["path"],
            size=file["size"],
            footer=file.get("footer", ""),
            sha256=file["sha256"] if hashed else "",
        )
        for file in files
        if file["path"] in wanted
    ]


def outcome_of(tx: Transaction, intent_id: str) -> ClosedIntent | None:
    row = tx.execute(
        select(intent_outcomes).where(intent_outcomes.c.intent_id == intent_id)
    ).first()
    return None if row is None else _closed(row)


def committed_hashes(tx: Transaction, dataset_id: str) -> dict[int, str]:
    """Commit version → hash of the commit file, for every decided commit."""
    rows = tx.execute(
        select(intent_outcomes.c.commit_version, intent_outcomes.c.commit_sha256)
        .join(intents, intents.c.intent_id == intent_outcomes.c.intent_id)
        .where(
            intents.c.dataset_id == dataset_id,
            intent_outcomes.c.outcome == IntentOutcome.COMMITTED.value,
        )
    )
    return {row.commit_version: row.commit_sha256 for row in rows}


def known_checkpoint(tx: Transaction, dataset_id: str, commit: int) -> KnownCheckpoint | None:
    """The last checkpoint at or before a commit that a move wrote."""
    outcome = intent_outcomes.c
    row = tx.execute(
        select(outcome.commit_version, intents.c.seq, outcome.checkpoint)
        .join(intents, intents.c.intent_id == outcome.intent_id)
        .where(
            intents.c.dataset_id == dataset_id,
            outcome.commit_version <= commit,
            outcome.checkpoint.is_not(None),
        )
        .order_by(intents.c.seq.desc())
        .limit(1)
    ).first()
    return None if row is None else KnownCheckpoint(*row)


def recorded_commits(
    tx: Transaction, dataset_id: str, numbers: range | None = None
) -> dict[int, str]:
    """Commit version → hash of the commit file, of every commit that LakeGuard made; with
    ``numbers``, of these moves alone."""
    created = tx.scalar(
        select(governed_tables.c.created_sha256).where(governed_tables.c.dataset_id == dataset_id)
    )
    outcome = intent_outcomes.c
    ours = (IntentOutcome.COMMITTED.value, IntentOutcome.FENCED.value)
    rows = tx.execute(
        select(outcome.commit_version, outcome.commit_sha256)
        .join(intents, intents.c.intent_id == outcome.intent_id)
        .where(intents.c.dataset_id == dataset_id, outcome.outcome.in_(ours), _among(numbers))
    )
    found = {row.commit_version: row.commit_sha256 for row in rows}
    if created is None or (numbers is not None and numbers.start > 1):
        return found
    return {0: created, **found}


def files_of_moves(tx: Transaction, dataset_id: str, numbers: range) -> dict[str, int]:
    """Sizes of the files that these moves added, by path; some may have been removed since."""
    bodies = tx.scalars(
        select(intents.c.body).where(intents.c.dataset_id == dataset_id, _among(numbers))
    )
    files = (file for body in bodies for file in json.loads(body)["adds"])
    return {file["path"]: file["size"] for file in files}


def _among(numbers: range | None) -> ColumnElement[bool]:
    if numbers is None:
        return true()
    return and_(intents.c.seq >= numbers.start, intents.c.seq < numbers.stop)


def record_table(
    tx: Transaction, dataset_id: str, location: str, table_id: str, created: bytes | None = None
) -> None:
    """``created`` is the commit that made the table, if LakeGuard made it."""
    at = tx.now()
    row = {
        "dataset_id": dataset_id,
        "org_id": tx.org_id,
        "location": location,
        "table_id": table_id,
        "created_at": at,
        "created_sha256": None if created is None else put_text(tx, created.decode(), at),
    }
    outbox.record(tx, governed_tables, [row], at)


def table_id_of(tx: Transaction, dataset_id: str) -> str | None:
    return tx.scalar(
        select(governed_tables.c.table_id).where(governed_tables.c.dataset_id == dataset_id)
    )


def holder_of_table(tx: Transaction, table_id: str, *, besides: str | None) -> TableHolder | None:
    """The dataset other than ``besides`` that owns or is adopting the table.

    Adoptions are queried first: one that completes in between owns its table by then.
    """
    for row in tx.execute(_open_adoptions()):
        if row.dataset_id != besides and Intent.from_json(row.body).table_id == table_id:
            return TableHolder(row.org_id, row.dataset_id)
    table = governed_tables.c
    held = select(table.org_id, table.dataset_id).where(table.table_id == table_id)
    found = tx.execute(held).first()
    return None if found is None or found.dataset_id == besides else TableHolder(*found)


def _open_adoptions() -> Select[Any]:
    return (
        select(intents.c.org_id, intents.c.dataset_id, intents.c.body)
        .join(intent_outcomes, intent_outcomes.c.intent_id == intents.c.intent_id, isouter=True)
        .where(
            intents.c.kind == MoveKind.ADOPTION.value,
            intent_outcomes.c.intent_id.is_(None),
        )
    )


def _intent(tx: Transaction, query: Select[Any]) -> Intent | None:
    body = tx.scalar(query)
    return None if body is None else Intent.from_json(body)


def _closed(row: Row[Any]) -> ClosedIntent:
    return ClosedIntent(
        intent_id=row.intent_id,
        outcome=IntentOutcome(row.outcome),
        commit=row.commit_version,
        sha256=row.commit_sha256,
        checkpoint=row.checkpoint,
    )
