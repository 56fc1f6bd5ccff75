"""What the control plane knows by itself, held against what the evidence says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlalchemy import Connection

from lakeguard.ledger.versions import StoredVersion, require_version
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.heart import Heart, OpenRun
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.notes import checked_notes
from lakeguard_sdk.partitions import partition_difference
from lakeguard_sdk.program_errors import NoteRefused
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.words import LoadType

_SHA256 = re.compile(r"[0-9a-f]{64}")


def check_evidence(
    connection: Connection, heart: Heart, run: OpenRun, evidence: Evidence, findings: Findings
) -> None:
    """Evidence must be of this run: its plan, its base, its inputs, its own staging folder."""
    plan = run.plan
    base = None
    if plan.base is not None:
        base = require_version(connection, run.dataset.dataset_id, plan.base.version)
    expected = {
        "run_id": (evidence.run_id, plan.ticket.run_id),
        "dataset": (evidence.dataset, plan.dataset),
        "base_commit": (evidence.base_commit, plan.base.commit if plan.base else None),
    }
    for field, (found, wanted) in expected.items():
        if found != wanted:
            findings.refuse("evidence", f"{field} is {found!r}, it must be {wanted!r}")
    _check_rows(heart, plan, base, evidence, findings)
    if set(evidence.inputs) != {pin.input for pin in plan.pins}:
        findings.refuse("evidence", "the inputs read are not those that were pinned")
    try:
        checked_notes(evidence.notes)
    except NoteRefused as error:
        findings.refuse("evidence", str(error))
    for file in evidence.files:
        parts = file.path.split("/")
        if not file.path.startswith(f"{plan.staging}/") or {"", ".", ".."} & set(parts):
            findings.refuse("evidence", f"{file.path!r} is not in the run's staging folder")
        if not _SHA256.fullmatch(file.sha256):
            findings.refuse("evidence", f"{file.path!r} has no hash of its content")
        odd = partition_difference(file.partition, plan.partition_by, plan.table_schema)
        if odd is not None:
            findings.refuse("evidence", f"{file.path!r} is in no partition of the table: {odd}")


def _check_rows(
    heart: Heart,
    plan: RunPlan,
    base: StoredVersion | None,
    evidence: Evidence,
    findings: Findings,
) -> None:
    """Files removed are of the base, as many as the load may; rows added and removed add up."""
    live: Mapping[str, int] = {}
    if plan.base is not None and (evidence.removes or replaces_all(plan, base)):
        live = heart.tables.rows_at(plan.location, plan.base.commit)
    removes = set(evidence.removes)
    if replaces_all(plan, base):
        wrong = removes != set(live)
    elif plan.load.type is LoadType.APPEND and plan.window is None:
        wrong = bool(removes)
    else:
        wrong = not removes <= set(live)
    if wrong:
        findings.refuse("evidence", f"a {plan.load.type} load must remove other files than it says")
        return
    added, removed = sum(file.rows for file in evidence.files), sum(live[path] for path in removes)
    table_rows = (base.table_rows if base else 0) + added - removed
    if evidence.table_rows != table_rows:
        findings.refuse(
            "evidence", f"table_rows is {evidence.table_rows!r}, it must be {table_rows!r}"
        )
    changes = evidence.changes
    if changes is not None and added - removed != changes.inserted - changes.deleted:
        findings.refuse(
            "evidence",
            f"{changes.inserted} rows inserted and {changes.deleted} deleted do not make the"
            f" {added} rows of its files out of {removed}",
        )


def replaces_all(plan: RunPlan, base: StoredVersion | None) -> bool:
    """Whether no file of the base may stay: a whole load, or one that adds columns."""
    if base is None:
        return False
    grown = base.table_schema.schema_hash != plan.table_schema.schema_hash
    return grown or (plan.load.type is LoadType.FULL and plan.window is None)
