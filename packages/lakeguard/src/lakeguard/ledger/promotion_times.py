"""When datasets were last promoted, corrected by the sequence of runs if a clock was wrong."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select

from lakeguard.state.clock import CLOCK_SLACK
from lakeguard.state.schema import data_versions, dataset_registry_revisions, run_history
from lakeguard.state.transaction import Transaction


def last_promotion(tx: Transaction, dataset_id: str) -> datetime | None:
    """When the dataset was last promoted, whatever is published now."""
    table = data_versions.c
    last = select(func.max(table.version)).where(table.dataset_id == dataset_id)
    return tx.scalar(
        select(table.promoted_at).where(
            table.dataset_id == dataset_id, table.version == last.scalar_subquery()
        )
    )


def effective_promotion(tx: Transaction, dataset_id: str) -> datetime | None:
    """``last_promotion``, corrected by the sequence of runs if it is in the future."""
    table = data_versions.c
    last = select(func.max(table.version)).where(table.dataset_id == dataset_id)
    row = tx.execute(
        select(table.promoted_at, table.run_id).where(
            table.dataset_id == dataset_id, table.version == last.scalar_subquery()
        )
    ).first()
    return None if row is None else sequenced_time(tx, row.promoted_at, row.run_id)


def effective_promotions(tx: Transaction) -> dict[str, datetime]:
    """``effective_promotion`` of every dataset with a version, with one index lookup each."""
    table, later = data_versions.c, data_versions.alias("later")
    datasets = dataset_registry_revisions.c
    last = (
        select(func.max(later.c.version))
        .where(later.c.dataset_id == datasets.dataset_id)
        .correlate(dataset_registry_revisions)
        .scalar_subquery()
    )
    rows = tx.execute(
        select(table.dataset_id, table.promoted_at, table.run_id)
        .select_from(dataset_registry_revisions)
        .join(data_versions, (table.dataset_id == datasets.dataset_id) & (table.version == last))
        .where(datasets.org_id == tx.org_id, datasets.revision == 1)
    ).all()
    return {row.dataset_id: sequenced_time(tx, row.promoted_at, row.run_id) for row in rows}


def sequenced_time(tx: Transaction, recorded: datetime, run_id: str) -> datetime:
    """When a run ended; for a time in the future, recorded by a clock that was ahead, the end of
    the next run in the sequence, else of the one before, whose time has come. It is never in the
    future, so that it hides no lateness."""
    now = tx.now()
    if recorded <= now + CLOCK_SLACK:
        return min(recorded, now)
    runs = run_history.c
    own = select(runs.ordinal).where(runs.run_id == run_id).scalar_subquery()
    come = select(runs.end_time).where(runs.org_id == tx.org_id, runs.end_time <= now)
    after = tx.scalar(come.where(runs.ordinal > own).order_by(runs.ordinal).limit(1))
    before = come.where(runs.ordinal < own).order_by(runs.ordinal.desc()).limit(1)
    return after or tx.scalar(before) or now
