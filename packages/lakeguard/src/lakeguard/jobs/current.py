"""All jobs of an organisation as their latest revisions and switches say, read at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from lakeguard.jobs.graphs import StoredGraph, active_graph
from lakeguard.ledger.switches import switched_off
from lakeguard.registry.job_controls import Reading, read_controls
from lakeguard.state.tables import md_jobs
from lakeguard_sdk.definition import JobDefinition
from lakeguard_sdk.job import JobControls

_MOST_NAMED = 500
"""More than so many are not asked for one by one."""
_MOST_PARSED = 50_000


@dataclass(frozen=True)
class Parsed:
    """A definition and its settings, as read once."""

    definition: JobDefinition
    reading: Reading


@dataclass(frozen=True)
class CurrentJob:
    """The latest revision of a job, and whether an operator lets it start."""

    job_id: str
    definition_hash: str
    parsed: Parsed
    controls: JobControls
    """Its settings, with the arrows of the active graph: those change by a deployment."""
    enabled: bool = True
    """As an operator switched it last."""

    @property
    def name(self) -> str:
        return self.parsed.definition.job

    @property
    def definition(self) -> JobDefinition:
        return self.parsed.definition

    @property
    def active(self) -> bool:
        """As its definition and its own settings say."""
        return self.parsed.reading.active


def current_jobs(
    connection: Connection, org_id: str, job_ids: Collection[str] | None = None
) -> dict[str, CurrentJob]:
    """By id, in the order of their names: all jobs, or some. A definition is read when it is
    new; after that its hash is enough."""
    few = None if job_ids is None or len(job_ids) > _MOST_NAMED else set(job_ids)
    query = select(md_jobs.c.job_id, md_jobs.c.definition_hash).where(md_jobs.c.org_id == org_id)
    if few is not None:
        query = query.where(md_jobs.c.job_id.in_(few))
    rows = connection.execute(query.order_by(md_jobs.c.job_name)).all()
    parsed = _parsed_all(connection, org_id, rows)
    off, graph = switched_off(connection, org_id), active_graph(connection, org_id)
    wanted = None if job_ids is None else set(job_ids)
    return {
        job_id: CurrentJob(
            job_id=job_id,
            definition_hash=digest,
            parsed=parsed[digest],
            controls=_controls(parsed[digest], graph),
            enabled=job_id not in off,
        )
        for job_id, digest in map(tuple, rows)
        if wanted is None or job_id in wanted
    }


def _controls(parsed: Parsed, graph: StoredGraph | None) -> JobControls:
    controls = parsed.reading.controls
    known = None if graph is None else graph.graph.jobs.get(parsed.definition.job)
    if known is None or known.after == controls.after:
        return controls
    return controls.model_copy(update={"after": known.after})


_known: dict[str, Parsed] = {}
"""By the hash of the definition: the same hash is the same definition, whoever has it."""


def _parsed_all(connection: Connection, org_id: str, rows: Collection[Any]) -> dict[str, Parsed]:
    hashes = {row.definition_hash for row in rows}
    found = {key: _known[key] for key in hashes if key in _known}
    missing = hashes - found.keys()
    if not missing:
        return found
    query = select(md_jobs.c.definition_hash, md_jobs.c.definition).where(
        md_jobs.c.org_id == org_id
    )
    if len(missing) <= _MOST_NAMED:
        query = query.where(md_jobs.c.definition_hash.in_(missing))
    for row in connection.execute(query):
        if row.definition_hash in missing and row.definition_hash not in found:
            definition = JobDefinition.from_json(row.definition)
            found[row.definition_hash] = Parsed(definition, read_controls(definition))
    if len(_known) > _MOST_PARSED:
        _known.clear()
    _known.update({key: found[key] for key in missing})
    return found
