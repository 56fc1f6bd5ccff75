"""How much of its source a run reads, told by the plan that it opened with."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, select

from lakeguard.ledger.kept_rows import Reach
from lakeguard.state.tables import data_versions, documents, run_openings
from lakeguard_sdk.load import KEYED_LOADS
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.words import LoadType

_READS_ALL = (LoadType.FULL, LoadType.SNAPSHOT)
_MERGES = (*KEYED_LOADS, LoadType.PARTITION)


def reach_of(plan: RunPlan) -> Reach:
    return _reach(plan.to_data())


def reaches_since(
    connection: Connection, org_id: str, dataset_id: str, first: int
) -> dict[int, Reach]:
    """Of every version from ``first`` on that a run was opened for, in one question: plans are
    long, and a dataset has many."""
    version, opened, document = data_versions.c, run_openings.c, documents.c
    rows = connection.execute(
        select(version.version, document.body)
        .join(run_openings, opened.run_id == version.run_id)
        .join(
            documents,
            (document.content_hash == opened.plan_hash) & (document.org_id == opened.org_id),
        )
        .where(version.dataset_id == dataset_id, version.version >= first, opened.org_id == org_id)
    )
    return {row.version: _reach(json.loads(row.body)) for row in rows}


def _reach(plan: dict[str, Any]) -> Reach:
    if plan["build"]["build"] == "quarantine":
        return Reach()
    if plan.get("window") is not None:
        return Reach(windowed=True)
    return Reach(anew=_reads_anew(plan))


def _reads_anew(plan: dict[str, Any]) -> bool:
    """Rows that are added without a look at the table are added again where they are read again:
    so do those of them that wait."""
    load, build = plan["load"], plan["build"]
    kind = LoadType(load["type"])
    if kind in _READS_ALL:
        return True
    if kind not in _MERGES and not load.get("keys"):
        return False
    if plan.get("watermark") is not None:
        return False
    pins = {"sql": "views", "python": "inputs"}.get(build["build"])
    if pins is not None:
        return all(pin.get("since") is None for pin in build[pins].values())
    return build["build"] == "source" and build.get("position") is None
