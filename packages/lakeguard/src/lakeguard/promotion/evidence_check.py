"""What the control plane knows by itself, held against what the evidence says."""

from __future__ import annotations

import re

from sqlalchemy import Connection

from lakeguard.ledger.versions import require_version
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.heart import Heart, OpenRun
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.partitions import partition_difference
from lakeguard_sdk.run import RunPlan, SqlBuild
from lakeguard_sdk.words import LoadType

_SHA256 = re.compile(r"[0-9a-f]{64}")


def check_evidence(
    connection: Connection, heart: Heart, run: OpenRun, evidence: Evidence, findings: Findings
) -> None:
    """Evidence must be of this run: its plan, its base, its inputs, its own staging folder."""
    plan = run.plan
    base_rows, base_files = 0, frozenset[str]()
    if plan.base is not None:
        base = require_version(connection, run.dataset.dataset_id, plan.base.version)
        if plan.load is LoadType.APPEND:
            base_rows = base.table_rows
        else:
            base_files = heart.tables.files_at(plan.location, plan.base.commit)
    expected = {
        "run_id": (evidence.run_id, plan.ticket.run_id),
        "dataset": (evidence.dataset, plan.dataset),
        "base_commit": (evidence.base_commit, plan.base.commit if plan.base else None),
        "table_rows": (evidence.table_rows, base_rows + evidence.rows),
    }
    for field, (found, wanted) in expected.items():
        if found != wanted:
            findings.refuse("evidence", f"{field} is {found!r}, it must be {wanted!r}")
    if set(evidence.removes) != base_files:
        findings.refuse("evidence", f"a {plan.load} load must remove other files than it says")
    if set(evidence.inputs) != _pinned(plan):
        findings.refuse("evidence", "the inputs read are not those that were pinned")
    for file in evidence.files:
        parts = file.path.split("/")
        if not file.path.startswith(f"{plan.staging}/") or {"", ".", ".."} & set(parts):
            findings.refuse("evidence", f"{file.path!r} is not in the run's staging folder")
        if not _SHA256.fullmatch(file.sha256):
            findings.refuse("evidence", f"{file.path!r} has no hash of its content")
        odd = partition_difference(file.partition, plan.partition_by, plan.declared)
        if odd is not None:
            findings.refuse("evidence", f"{file.path!r} is in no partition of the table: {odd}")


def _pinned(plan: RunPlan) -> set[object]:
    if isinstance(plan.build, SqlBuild):
        return {pin.input for pin in plan.build.views.values()}
    return set()
