"""Checks row counts and files of evidence against the table."""

from __future__ import annotations

import json
from collections.abc import Mapping

from lakeguard.lake.port import LiveFile
from lakeguard.ledger.versions import StoredVersion
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.model.run import RunPlan


def check_rows(
    context: PlaneContext,
    plan: RunPlan,
    base: StoredVersion | None,
    evidence: Evidence,
    findings: Findings,
) -> None:
    """Removed files are exactly those base files that the load replaces; rows add up."""
    live: Mapping[str, LiveFile] = {}
    if plan.base is not None and not _only_adds(plan, base):
        found = context.tables.live_at(plan.location, plan.base.commit)
        live = {file.path: file for file in found}
    if not _removes_what_it_may(plan, base, evidence, live):
        findings.refuse("evidence", f"a {plan.load.type} load must remove other files than it says")
        return
    for file in evidence.files:
        if _rows_in_statistics(file) != file.rows:
            findings.refuse("evidence", f"{file.path!r} has {file.rows} rows, its statistics not")
    added = sum(file.rows for file in evidence.files)
    removed = sum(live[path].rows for path in evidence.removes)
    table_rows = (base.table_rows if base else 0) + added - removed
    if evidence.table_rows != table_rows:
        findings.refuse(
            "evidence", f"table_rows is {evidence.table_rows!r}, it must be {table_rows!r}"
        )
    changes = evidence.changes
    if changes is None:
        if not _is_plain(plan, base):
            findings.refuse("evidence", f"a {plan.load.type} load must say what it changed")
    elif added - removed != changes.inserted - changes.deleted:
        findings.refuse(
            "evidence",
            f"{changes.inserted} rows inserted and {changes.deleted} deleted do not make the"
            f" {added} rows of its files out of {removed}",
        )


def replaces_all(plan: RunPlan, base: StoredVersion | None) -> bool:
    """Whether every base file must be replaced: a full load, or one that adds columns."""
    if base is None:
        return False
    return _has_grown(plan, base) or (plan.load.type is LoadType.FULL and plan.window is None)


def _has_grown(plan: RunPlan, base: StoredVersion) -> bool:
    return base.table_schema.schema_hash != plan.table_schema.schema_hash


def _is_plain(plan: RunPlan, base: StoredVersion | None) -> bool:
    """Whether the files hold exactly the batch's rows."""
    if plan.window is not None or plan.load.type not in (LoadType.FULL, LoadType.APPEND):
        return False
    return plan.load.type is LoadType.FULL or base is None or not _has_grown(plan, base)


def _only_adds(plan: RunPlan, base: StoredVersion | None) -> bool:
    plain = plan.load.type is LoadType.APPEND and plan.window is None
    return plain and not replaces_all(plan, base)


def _removes_what_it_may(
    plan: RunPlan, base: StoredVersion | None, evidence: Evidence, live: Mapping[str, LiveFile]
) -> bool:
    removes = set(evidence.removes)
    if replaces_all(plan, base):
        return removes == set(live)
    if _only_adds(plan, base):
        return not removes
    if plan.load.type is LoadType.PARTITION and plan.window is None:
        brought = [dict(file.partition) for file in evidence.files]
        return removes == {path for path in live if dict(live[path].partition) in brought}
    return removes <= set(live)


def _rows_in_statistics(file: StagedFile) -> object:
    try:
        return json.loads(file.stats).get("numRecords")
    except (ValueError, AttributeError):
        return None
