"""All jobs of an organisation with their latest revisions and switches, read at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select

from lakeguard.ledger.switches import switched_off
from lakeguard.registry.files.job_settings import Reading, read_controls
from lakeguard.scheduler.graph.store import StoredGraph, active_graph
from lakeguard.state.caches import Definitions
from lakeguard.state.schema import md_jobs, md_jobs_revisions
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.jobs import JobControls

_MOST_NAMED = 500
"""Above this many, all are read instead of querying by id."""


@dataclass(frozen=True)
class Parsed:
    """A parsed job definition and its settings."""

    definition: JobDefinition
    reading: Reading


@dataclass(frozen=True)
class CurrentJob:
    """The latest revision of a job, and its switch."""

    job_id: str
    definition_hash: str
    parsed: Parsed
    controls: JobControls
    """Its settings, with the edges of the active graph, which change only by deployment."""
    enabled: bool = True
    """The operator's last switch."""

    @property
    def name(self) -> str:
        return self.parsed.definition.job

    @property
    def definition(self) -> JobDefinition:
        return self.parsed.definition

    @property
    def active(self) -> bool:
        """Whether definition and settings enable it."""
        return self.parsed.reading.active


def current_jobs(tx: Transaction, job_ids: Collection[str] | None = None) -> dict[str, CurrentJob]:
    """All jobs, or some, by id and ordered by name. Definitions are parsed once per hash."""
    few = None if job_ids is None or len(job_ids) > _MOST_NAMED else set(job_ids)
    table = md_jobs.c
    query = select(table.job_id, table.definition_hash, table.revision).where(
        table.org_id == tx.org_id, table.revision > 0
    )
    if few is not None:
        query = query.where(table.job_id.in_(few))
    rows = tx.execute(query.order_by(table.job_name)).all()
    parsed = _definitions.of(tx, rows)
    off, graph = switched_off(tx, few), active_graph(tx)
    wanted = None if job_ids is None else set(job_ids)
    return {
        job_id: CurrentJob(
            job_id=job_id,
            definition_hash=digest,
            parsed=parsed[digest],
            controls=_controls(parsed[digest], graph),
            enabled=job_id not in off,
        )
        for job_id, digest, _ in map(tuple, rows)
        if wanted is None or job_id in wanted
    }


def _controls(parsed: Parsed, graph: StoredGraph | None) -> JobControls:
    controls = parsed.reading.controls
    known = None if graph is None else graph.graph.jobs.get(parsed.definition.job)
    if known is None or known.after == controls.after:
        return controls
    return controls.model_copy(update={"after": known.after})


def _parsed(text: str) -> Parsed:
    definition = JobDefinition.from_json(text)
    return Parsed(definition, read_controls(definition))


_definitions = Definitions[Parsed](md_jobs_revisions, "job_id", _parsed)
