"""A job file of definitions: a named workload and its settings."""

from __future__ import annotations

from lakeguard.registry.details import read_details
from lakeguard.registry.fields import LONGEST_DESCRIPTION, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Document
from lakeguard_sdk.definition import JobDefinition

KEYS = (
    "job", "dataset", "title", "type", "owner", "description", "details", "config", "external_id",
    "active",
)  # fmt: skip


def read_job(document: Document, findings: Findings) -> JobDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name = fields.word("job")
    scalar = fields.scalar("dataset")
    dataset = None if scalar is None else fields.as_dataset(scalar, "dataset")
    job_type = fields.word("type", "build")
    said = {
        "title": fields.text("title") or "",
        "owner": fields.text("owner") or "",
        "external_id": fields.text("external_id") or "",
        "description": fields.text("description", limit=LONGEST_DESCRIPTION) or "",
    }
    details, config = read_details(fields, "details"), read_details(fields, "config")
    active = fields.flag("active", True)
    if findings.count > before or name is None or job_type is None:
        return None
    return JobDefinition(
        job=name,
        dataset=dataset,
        type=job_type,
        details=details,
        config=config,
        active=active,
        **said,
    )
