"""Evidence of an adoption, held against the table's own log."""

from __future__ import annotations

from lakeguard.lake.adoptable import told_rows
from lakeguard.promotion.eligibility import Findings
from lakeguard_sdk.adoption import AdoptableTable
from lakeguard_sdk.canonical import is_sha256
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.run import RunPlan


def check_judged(
    plan: RunPlan, table: AdoptableTable, evidence: Evidence, findings: Findings
) -> None:
    """Evidence must be of this run and of exactly the files that the table shows, all of them."""
    expected = {
        "run_id": (evidence.run_id, plan.ticket.run_id),
        "dataset": (evidence.dataset, plan.dataset),
        "schema": (evidence.table_schema.schema_hash, plan.table_schema.schema_hash),
        "rows": (evidence.rows, table.rows),
        "table_rows": (evidence.table_rows, table.rows),
        "inputs": (evidence.inputs, ()),
        "removes": (evidence.removes, ()),
    }
    for field, (found, wanted) in expected.items():
        if found != wanted:
            findings.refuse("evidence", f"{field} is {found!r}, it must be {wanted!r}")
    shown = {file.path: file for file in table.files}
    if sorted(file.path for file in evidence.files) != sorted(shown):
        findings.refuse("evidence", "the files judged are not those that the table shows")
        return
    for file in evidence.files:
        told = shown[file.path]
        same = (file.size, file.stats, file.partition) == (told.size, told.stats, told.partition)
        if not same or file.rows != told_rows(told):
            findings.refuse("evidence", f"{file.path!r} is not as the table's log tells of it")
        if not is_sha256(file.sha256):
            findings.refuse("evidence", f"{file.path!r} has no hash of its content")
