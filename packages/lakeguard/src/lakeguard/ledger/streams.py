"""The last report of each streaming query.

A report replaces the one before it and is not in the lake: what a query published is recorded by
its runs, and what it is doing is reported again by a query that lives.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, func, select

from lakeguard.state.bulk_writes import insert_into
from lakeguard.state.schema import stream_reports
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import StreamState
from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.model.streams import StreamProgress, StreamReport, StreamStatus
from lakeguard_sdk.scheduling.process_identity import is_gone
from lakeguard_sdk.security.secret_values import masked

SHOWN = timedelta(days=7)
"""A query without a report for this long is no longer shown: its checkpoint was given up."""
SILENCE = timedelta(minutes=2)
"""A program that lives reports at least four times in it."""


def record_report(tx: Transaction, dataset_id: str, report: StreamReport) -> None:
    """A report without progress keeps that of the program before it."""
    new = insert_into(tx, stream_reports)
    held, given = stream_reports.c, new.excluded
    tx.execute(
        new.on_conflict_do_update(
            index_elements=["org_id", "dataset_id", "query_id"],
            set_={
                "state": given.state,
                "reported_at": given.reported_at,
                "process": given.process,
                "progress": func.coalesce(given.progress, held.progress),
                "error": given.error,
            },
        ),
        [_row(tx, dataset_id, report)],
    )


def _row(tx: Transaction, dataset_id: str, report: StreamReport) -> dict[str, Any]:
    return {
        "org_id": tx.org_id,
        "dataset_id": dataset_id,
        "query_id": report.query_id,
        "state": report.state.value,
        "reported_at": tx.now(),
        "process": report.process.to_json(),
        "progress": None if report.progress is None else _masked(report.progress).to_json(),
        "error": masked(report.error) or None,
    }


def _masked(progress: StreamProgress) -> StreamProgress:
    """The addresses of sources may hold passwords."""
    sources = (item.model_copy(update={"source": masked(item.source)}) for item in progress.sources)
    return progress.model_copy(update={"sources": tuple(sources)})


def reported_streams(tx: Transaction) -> dict[str, tuple[StreamStatus, ...]]:
    """Queries by dataset, last reported first.

    Of the queries of a dataset that ended, only the last is shown, and only if none was reported
    after it.
    """
    table, at = stream_reports.c, tx.now()
    rows = tx.execute(
        select(stream_reports)
        .where(table.org_id == tx.org_id, table.reported_at > at - SHOWN)
        .order_by(table.reported_at.desc(), table.query_id)
    )
    found: dict[str, tuple[StreamStatus, ...]] = {}
    for row in rows:
        before = found.get(row.dataset_id, ())
        if not before or row.state != StreamState.ENDED.value:
            found[row.dataset_id] = (*before, _status(row, at))
    return found


def _status(row: Row[Any], at: datetime) -> StreamStatus:
    progress = row.progress
    return StreamStatus(
        query_id=row.query_id,
        state=StreamState(row.state),
        reported_at=row.reported_at,
        progress=None if progress is None else StreamProgress.from_json(progress),
        error=row.error or "",
        lost=_lost(row, at) if row.state == StreamState.RUNNING.value else "",
    )


def _lost(row: Row[Any], at: datetime) -> str:
    process = WorkerIdentity.from_json(row.process)
    if is_gone(process):
        return f"its process {process.pid} on {process.host} is gone"
    return f"no report from {process.host}" if row.reported_at < at - SILENCE else ""
