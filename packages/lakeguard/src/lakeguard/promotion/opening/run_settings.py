"""The settings of a run, merged from launch, job, dataset, target and source.

Precedence: launch settings, job details, job configuration, dataset, target, source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from lakeguard.ledger.switches import switched_off
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.registry.files.job_settings import read_controls
from lakeguard.registry.store import (
    RegisteredDataset,
    current_source,
    current_target,
    job_id_of_dataset,
    job_of_dataset,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    FromSource,
    JobDefinition,
    SourceDefinition,
    TargetDefinition,
)


class Bundle(FrozenModel):
    """Settings with their origin; secrets are references."""

    values: dict[str, str] = Field(default_factory=dict)
    origins: dict[str, str] = Field(default_factory=dict)
    job: JobDefinition | None = None
    target: TargetDefinition | None = None


def resolve_bundle(
    job: JobDefinition | None,
    dataset: DatasetDefinition,
    target: TargetDefinition | None,
    source: SourceDefinition | None,
    launched: Mapping[str, str] | None = None,
) -> Bundle:
    """One value per key, by the precedence above."""
    weakest_first = [
        ("source", source.details if source else {}),
        ("target", target.details if target else {}),
        ("dataset", dataset.details),
        ("job config", job.config if job else {}),
        ("job", job.details if job else {}),
        ("launch", dict(launched or {})),
    ]
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    for origin, details in weakest_first:
        values.update(details)
        origins.update(dict.fromkeys(details, origin))
    return Bundle(values=values, origins=origins, job=job, target=target)


def find_bundle(
    tx: Transaction,
    dataset: RegisteredDataset,
    findings: Findings,
    launched: Mapping[str, str] | None = None,
) -> Bundle:
    """The run's settings; disabled or invalid parts refuse the run."""
    definition = dataset.definition
    _org_id, build = tx.org_id, definition.build
    job = job_of_dataset(tx, definition.dataset)
    target = definition.target and current_target(tx, definition.target)
    source = None
    if isinstance(build, FromSource):
        found = current_source(tx, build.source)
        source = found.definition if found else None
    _check_job(tx, job, findings)
    if definition.target:
        named = source.source if source else None
        for part, problem in target_problems(definition.target, target or None, named):
            findings.refuse(part, problem)
    return resolve_bundle(job, definition, target or None, source, launched)


def _check_job(tx: Transaction, job: JobDefinition | None, findings: Findings) -> None:
    """Whether the job is disabled by definition, settings or switch, or has invalid settings."""
    if job is None:
        return
    reading = read_controls(job)
    if wrong := reading.problem_of(job.job):
        findings.refuse("job", wrong)
        return
    if not reading.active:
        findings.refuse("job", f"job {job.job} is disabled (active: false)")
        return
    job_id = job_id_of_dataset(tx, job.dataset) if job.dataset else None
    if job_id is not None and switched_off(tx, {job_id}):
        message = f"job {job.job} is switched off; on again: lakeguard jobs enable {job.job}"
        findings.refuse("job", message)


def target_problems(
    name: str, target: TargetDefinition | None, source: str | None
) -> Iterator[tuple[str, str]]:
    """The missing or disabled part, with a message."""
    if target is None:
        yield "target", f"target {name} is not registered"
        return
    if not target.active:
        yield "target", f"target {name} is disabled (active: false)"
    if source is None:
        return
    mapping = next((m for m in target.sources if m.source == source), None)
    if mapping is None:
        yield "mapping", f"source {source} is not mapped to target {name}"
    elif not mapping.active:
        yield "mapping", f"the mapping {source} → {name} is disabled"
