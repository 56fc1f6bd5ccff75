"""Every decision ever made, made again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import select

from lakeguard.insight.library import Library
from lakeguard.insight.replaying import Replayer, difference, recorded_decisions
from lakeguard.registry.store import require_dataset
from lakeguard.state.database import Database
from lakeguard.state.tables import dataset_registry, decisions
from lakeguard_sdk.memory import ReplayedDifference, Replays
from lakeguard_sdk.names import DatasetName

_TOLD_EVERY = 500


def replay_all(
    database: Database,
    org_id: str,
    name: DatasetName | None,
    since: datetime | None,
    progress: Callable[[str], None] | None,
) -> Replays:
    """Of one dataset or of all, from a time or from the beginning; none is left out."""
    conditions = [] if since is None else [decisions.c.decided_at >= since]
    with database.read() as connection:
        if name is not None:
            dataset_id = require_dataset(connection, org_id, name).dataset_id
            conditions.append(decisions.c.dataset_id == dataset_id)
        view = dataset_registry.c
        asked = select(view.dataset_id, view.dataset_name).where(view.org_id == org_id)
        names = {row.dataset_id: DatasetName(row.dataset_name) for row in connection.execute(asked)}
    library = Library(org_id)
    replayer = Replayer(library)
    made, found = 0, []
    for row in recorded_decisions(database, org_id, library, *conditions):
        made += 1
        if said := difference(replayer, row):
            found.append(
                ReplayedDifference(
                    run_id=row.run_id,
                    decision_id=row.decision_id,
                    dataset=names[row.dataset_id],
                    decided_at=row.decided_at,
                    message=said,
                )
            )
        if progress and made % _TOLD_EVERY == 0:
            progress(f"{made:,} decisions made again, {len(found):,} differ")
    return Replays(decisions=made, differences=tuple(found))
