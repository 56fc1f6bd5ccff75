"""The settings of a run, merged from launch, job, dataset, target and source.

Precedence: launch settings, job details, job configuration, dataset, target, source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from pydantic import Field

from lakeguard.dispatch.task_row import DATE
from lakeguard.ledger.switches import switched_off
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.registry.files.job_settings import read_controls
from lakeguard.registry.sql.sql_builds import parameters_of
from lakeguard.registry.store import (
    RegisteredDataset,
    current_source,
    current_target,
    job_id_of_dataset,
    job_of_dataset,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    FromSource,
    FromSql,
    JobDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.model.run import Build, PythonBuild, SourceBuild, SqlBuild
from lakeguard_sdk.security.secret_values import is_reference


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


_OF_BUILDS = ("dataset", "job", "launch")
"""Origins of settings that a build may use as parameters."""
EXPECTED_HEADER = "expected_header"


def with_parameters(
    build: Build | None,
    definition: DatasetDefinition,
    bundle: Bundle,
    day: date,
    findings: Findings,
) -> Build | None:
    """The build with the settings it uses: values of its parameters, and the header that its
    files must have. What is missing refuses the run."""
    if isinstance(build, SourceBuild):
        return _with_header(build, bundle, findings)
    given = {
        name: text
        for name, text in bundle.values.items()
        if bundle.origins[name] in _OF_BUILDS and not is_reference(text)
    }
    if isinstance(build, PythonBuild):
        _check_date(given, findings)
        return build.model_copy(update={"parameters": given})
    if not isinstance(build, SqlBuild) or not isinstance(definition.build, FromSql):
        return build
    wanted = parameters_of(definition.build.text)
    given = {DATE: day.isoformat(), **given}
    for name in wanted:
        if name not in given:
            findings.refuse("parameters", _missing(name, bundle))
    values = {name: given[name] for name in wanted if name in given}
    _check_date(values, findings)
    return build.model_copy(update={"parameters": values})


def _missing(name: str, bundle: Bundle) -> str:
    if name in bundle.values and bundle.origins[name] in _OF_BUILDS:
        return f":{name} is a secret reference, which SQL never receives"
    way = f"--set {name}=VALUE, or details of the dataset or its job"
    return f":{name} of its SQL has no value; give it with {way}"


def _check_date(values: Mapping[str, str], findings: Findings) -> None:
    try:
        date.fromisoformat(values.get(DATE, "2000-01-01"))
    except ValueError:
        findings.refuse("parameters", f"{DATE} is not a date such as 2026-01-31")


def _with_header(build: SourceBuild, bundle: Bundle, findings: Findings) -> SourceBuild:
    text = bundle.values.get(EXPECTED_HEADER)
    if text is None:
        return build
    if build.format is not SourceFormat.CSV:
        problem = f"{EXPECTED_HEADER} is checked for CSV files; {build.source} has {build.format}"
        findings.refuse("header", problem)
        return build
    delimiter = build.options.get("delimiter", ",")
    names = tuple(name.strip() for name in text.split(delimiter))
    if build.header and build.header != names:
        problem = f"{EXPECTED_HEADER} differs from the header that source {build.source} declares"
        findings.refuse("header", problem)
    return build.model_copy(update={"header": names})


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
