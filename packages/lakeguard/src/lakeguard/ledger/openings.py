"""What each run was given when it opened, and the verdict on its live schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import select

from lakeguard.ledger.documents import get_document, put_document
from lakeguard.state import outbox
from lakeguard.state.schema import run_openings, run_schemas
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import RunPlan, SchemaVerdict
from lakeguard_sdk.types.schema import TableSchema


class Opening(NamedTuple):
    """The plan without its lease token, and the pinned rules as canonical JSON."""

    plan: RunPlan
    pinned: str


def record_opening(
    tx: Transaction,
    plan: RunPlan,
    pinned: dict[str, object],
    dataset_revision: int,
    bundle_hash: str,
) -> None:
    """Record the plan without its lease token."""
    at = tx.now()
    ticket = plan.ticket.model_copy(update={"lease_token": ""})
    recorded = plan.model_copy(update={"ticket": ticket})
    row = {
        "run_id": plan.ticket.run_id,
        "org_id": tx.org_id,
        "dataset_id": plan.dataset_id,
        "dataset_revision": dataset_revision,
        "plan_hash": put_document(tx, recorded.to_data(), at),
        "pinned_hash": put_document(tx, pinned, at),
        "base_version": plan.base.version if plan.base else None,
        "base_commit": plan.base.commit if plan.base else None,
        "opened_at": at,
        "bundle_hash": bundle_hash,
    }
    outbox.record(tx, run_openings, [row], at)


def opening_of(tx: Transaction, run_id: str) -> Opening:
    row = tx.execute(
        select(run_openings).where(
            run_openings.c.org_id == tx.org_id, run_openings.c.run_id == run_id
        )
    ).first()
    if row is None:
        raise UnknownRun(run=run_id)
    plan = RunPlan.from_json(get_document(tx, row.plan_hash))
    return Opening(plan, get_document(tx, row.pinned_hash))


def accepted_plan(tx: Transaction, run_id: str) -> RunPlan:
    """The run's plan after its schema verdict, if any."""
    plan = opening_of(tx, run_id).plan
    verdict = schema_verdict(tx, run_id)
    return plan if verdict is None else plan.under(verdict)


def opened_revision(tx: Transaction, run_id: str) -> int | None:
    """The definition revision that a run opened with."""
    opened = run_openings.c
    return tx.scalar(
        select(opened.dataset_revision).where(opened.org_id == tx.org_id, opened.run_id == run_id)
    )


def record_schema(
    tx: Transaction,
    run_id: str,
    live: TableSchema,
    verdict: SchemaVerdict,
    lineage: BatchLineage | None = None,
) -> None:
    """Record the live schema, its verdict, and what the table's columns will be made of."""
    at = tx.now()
    row = {
        "run_id": run_id,
        "org_id": tx.org_id,
        "live_hash": put_document(tx, live.to_data(), at),
        "verdict_hash": put_document(tx, verdict.to_data(), at),
        "submitted_at": at,
        "lineage_hash": None if lineage is None else put_document(tx, lineage.to_data(), at),
    }
    outbox.record(tx, run_schemas, [row], at)


def lineage_of_run(tx: Transaction, run_id: str) -> BatchLineage | None:
    """The lineage of the run's batch, with that of the rows its load keeps; None if all come from
    sources."""
    found = tx.scalar(
        select(run_schemas.c.lineage_hash).where(
            run_schemas.c.org_id == tx.org_id, run_schemas.c.run_id == run_id
        )
    )
    return None if found is None else BatchLineage.from_json(get_document(tx, found))


def lineages_of_runs(tx: Transaction, dataset_id: str) -> Iterator[BatchLineage]:
    """Of all runs of a dataset, published or not: each lineage once."""
    runs, opened = run_schemas.c, run_openings.c
    query = (
        select(runs.lineage_hash)
        .join(run_openings, opened.run_id == runs.run_id)
        .where(opened.org_id == tx.org_id, opened.dataset_id == dataset_id)
        .where(runs.lineage_hash.is_not(None))
    )
    for found in sorted(set(tx.scalars(query))):
        yield BatchLineage.from_json(get_document(tx, found))


def has_run(tx: Transaction, dataset_id: str) -> bool:
    """Whether a run of the dataset was ever opened."""
    opened = run_openings.c
    query = select(opened.run_id).where(opened.org_id == tx.org_id, opened.dataset_id == dataset_id)
    return tx.scalar(query.limit(1)) is not None


def schema_verdict(tx: Transaction, run_id: str) -> SchemaVerdict | None:
    """The run's schema verdict, if any."""
    found = tx.scalar(
        select(run_schemas.c.verdict_hash).where(
            run_schemas.c.org_id == tx.org_id, run_schemas.c.run_id == run_id
        )
    )
    return None if found is None else SchemaVerdict.from_json(get_document(tx, found))
