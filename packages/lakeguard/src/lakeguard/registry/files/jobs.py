"""Parses a job file."""

from __future__ import annotations

from lakeguard.registry.files.details import read_details
from lakeguard.registry.files.job_settings import (
    NO_DATASET,
    is_idle,
    is_known,
    job_errors,
    unknown_hint,
)
from lakeguard.registry.text.fields import LONGEST_DESCRIPTION, LONGEST_TEXT, Fields
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Block, Document, Path
from lakeguard_sdk.errors import MissingKey, UnknownKey
from lakeguard_sdk.model.definitions import Details, JobDefinition
from lakeguard_sdk.security.secret_values import holds_secret

KEYS = (
    "job", "dataset", "title", "type", "owner", "description", "details", "config", "external_id",
    "active",
)  # fmt: skip


def _read_config(fields: Fields) -> Details:
    """Report unknown keys here, with their position; other errors are found in the definition."""
    config = read_details(fields, "config")
    block = fields.block_at("config", "{schedule: daily}") if config else None
    for key, scalar in block.keys.items() if block else ():
        if not is_known(key) and not holds_secret(key) and len(key) <= LONGEST_TEXT:
            place = fields.document.place(scalar)
            fields.add(UnknownKey(place, key=key, hint=unknown_hint(key)))
    return config


def _report_settings(fields: Fields, job: JobDefinition) -> None:
    """Report further errors in the settings of a job that could not be read completely. Unreadable
    values were reported already and do not count as missing."""
    document = fields.document
    config, unread_config = _written(document, "config", job.config)
    details, unread_details = _written(document, "details", job.details)
    unread = unread_config | unread_details
    if job.dataset is None and "dataset" in document.root.keys:
        unread.add(("dataset",))
    written = job.model_copy(update={"config": config, "details": details})
    for error in job_errors(written, lambda _, path: document.locate(path)):
        at = tuple(error.fields["at"])
        if not isinstance(error, UnknownKey) and not unread & {at, at[:1]}:
            fields.add(error)


def _written(document: Document, key: str, read: Details) -> tuple[Details, set[Path]]:
    """The mapping with all its keys, and the paths of unreadable values."""
    node = document.root.values.get(key)
    if not isinstance(node, Block):
        return read, set() if node is None else {(key,)}
    unread = node.keys.keys() - read.keys()
    return {**read, **dict.fromkeys(unread, "")}, {(key, name) for name in unread}


def read_job(document: Document, findings: Findings) -> JobDefinition | None:
    """The definition, or None after reporting every error."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name = fields.word("job")
    scalar = fields.scalar("dataset")
    dataset = None if scalar is None else fields.as_dataset(scalar, "dataset")
    if fields.node("dataset") is None and "dataset" in document.root.keys:
        fields.missing("dataset")
    job_type = fields.word("type", "build")
    texts = {
        "title": fields.text("title") or "",
        "owner": fields.text("owner") or "",
        "external_id": fields.text("external_id") or "",
        "description": fields.text("description", limit=LONGEST_DESCRIPTION) or "",
    }
    details, config = read_details(fields, "details"), _read_config(fields)
    active = fields.flag("active", True)
    if name is None or job_type is None:
        return None
    job = JobDefinition(
        job=name,
        dataset=dataset,
        type=job_type,
        details=details,
        config=config,
        active=active,
        **texts,
    )
    if findings.count > before:
        _report_settings(fields, job)
        return None
    if fields.node("type") is not None and is_idle(job):
        place = document.locate(("dataset",))
        fields.add(MissingKey(place, key="dataset", hint=NO_DATASET, at=["dataset"]))
    return job
