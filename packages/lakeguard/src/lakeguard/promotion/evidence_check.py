"""What the control plane knows by itself, held against what the evidence says."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.versions import require_version
from lakeguard.promotion.aside import check_set_aside
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.heart import Heart, OpenRun
from lakeguard.promotion.row_balance import check_rows
from lakeguard.promotion.unstated import told_extremes
from lakeguard_sdk.canonical import is_sha256
from lakeguard_sdk.errors import NotApproved, NoteRefused
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.notes import checked_notes
from lakeguard_sdk.partitions import partition_difference
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.watermarks import watermark_value


def check_evidence(
    connection: Connection, heart: Heart, run: OpenRun, evidence: Evidence, findings: Findings
) -> None:
    """Evidence must be of this run: its plan, its base, its inputs, its own staging folder.

    ``NotApproved`` where it tells a value that nobody may know: a finding would keep it for good.
    """
    plan = run.plan
    if told := told_extremes(evidence.files, plan.unstated):
        raise NotApproved(run=plan.ticket.run_id, reason=told)
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
    check_rows(heart, plan, base, evidence, findings)
    check_set_aside(connection, heart, plan, evidence, findings)
    _check_position(plan, evidence, findings)
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
        if not is_sha256(file.sha256):
            findings.refuse("evidence", f"{file.path!r} has no hash of its content")
        odd = partition_difference(file.partition, plan.partition_by, plan.table_schema)
        if odd is not None:
            findings.refuse("evidence", f"{file.path!r} is in no partition of the table: {odd}")


def _check_position(plan: RunPlan, evidence: Evidence, findings: Findings) -> None:
    """A watermark never falls, and a back-fill does not move it."""
    found = evidence.position.watermark if evidence.position else None
    if plan.window is not None:
        if found != plan.watermark:
            findings.refuse("evidence", "a back-fill moved the watermark")
        return
    if plan.watermark is None:
        return
    data_type = str(plan.declared.type_of(plan.load.watermark))
    try:
        fell = found is None or watermark_value(found, data_type) < watermark_value(
            plan.watermark, data_type
        )
    except (TypeError, ValueError):
        fell = True
    if fell:
        findings.refuse("evidence", f"the watermark fell from {plan.watermark} to {found}")
