"""A job file of definitions: a named workload and its settings."""

from __future__ import annotations

from lakeguard.registry.details import read_details
from lakeguard.registry.fields import LONGEST_DESCRIPTION, LONGEST_TEXT, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.job_controls import NO_DATASET, is_idle, is_known, unknown_hint
from lakeguard.registry.nodes import Document
from lakeguard_sdk.definition import Details, JobDefinition
from lakeguard_sdk.definition_errors import MissingKey, UnknownKey
from lakeguard_sdk.secret_values import holds_secret

KEYS = (
    "job", "dataset", "title", "type", "owner", "description", "details", "config", "external_id",
    "active",
)  # fmt: skip


def _read_config(fields: Fields) -> Details:
    """A key that means nothing here is told where it stands; what is more wrong with one than
    that is told of the definition."""
    config = read_details(fields, "config")
    block = fields.block_at("config", "{schedule: daily}") if config else None
    for key, scalar in block.keys.items() if block else ():
        if not is_known(key) and not holds_secret(key) and len(key) <= LONGEST_TEXT:
            place = fields.document.place(scalar)
            fields.add(UnknownKey(place, key=key, hint=unknown_hint(key)))
    return config


def read_job(document: Document, findings: Findings) -> JobDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name = fields.word("job")
    scalar = fields.scalar("dataset")
    dataset = None if scalar is None else fields.as_dataset(scalar, "dataset")
    if scalar is None and "dataset" in document.root.keys:
        fields.missing("dataset")
    job_type = fields.word("type", "build")
    said = {
        "title": fields.text("title") or "",
        "owner": fields.text("owner") or "",
        "external_id": fields.text("external_id") or "",
        "description": fields.text("description", limit=LONGEST_DESCRIPTION) or "",
    }
    details, config = read_details(fields, "details"), _read_config(fields)
    active = fields.flag("active", True)
    if findings.count > before or name is None or job_type is None:
        return None
    job = JobDefinition(
        job=name,
        dataset=dataset,
        type=job_type,
        details=details,
        config=config,
        active=active,
        **said,
    )
    if fields.node("type") is not None and is_idle(job):
        place = document.locate(("dataset",))
        fields.add(MissingKey(place, key="dataset", hint=NO_DATASET, at=["dataset"]))
    return job
