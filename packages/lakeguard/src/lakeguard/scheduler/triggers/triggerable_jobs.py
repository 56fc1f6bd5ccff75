"""Jobs with triggers, re-read whenever one of them changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import func, select

from lakeguard.registry.files.job_settings import TRIGGERS as TRIGGER_KEYS
from lakeguard.scheduler.graph.current_jobs import CurrentJob, current_jobs
from lakeguard.scheduler.graph.store import active_graph
from lakeguard.state.schema import dag_activations, job_switches, registry_applies
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.scheduling.jobs import JobControls

Mark = tuple[Any, ...]
TRIGGERS = ("cron", "updates", "files", "event", "after")


@dataclass(frozen=True)
class Roster:
    """All jobs of an organisation as of ``mark``."""

    mark: Mark
    jobs: dict[str, CurrentJob]
    ready: frozenset[str]
    """By id: active, enabled, and deployed in their current form."""
    undeployed: tuple[str, ...]
    """By name: jobs with triggers that are not deployed in their current form."""
    strange: tuple[str, ...] = ()
    """By name: jobs of a type that nothing here runs."""
    wrong: tuple[str, ...] = ()
    """By name: jobs with invalid settings."""

    @property
    def applied(self) -> int:
        """A revision counter: greater is later."""
        return self.mark[0] or 0

    @cached_property
    def _by_trigger(self) -> dict[str, list[CurrentJob]]:
        ready = [self.jobs[job_id] for job_id in sorted(self.ready)]
        return {what: [job for job in ready if getattr(job.controls, what)] for what in TRIGGERS}

    def waiting(self, what: str) -> list[CurrentJob]:
        """Enabled jobs with a trigger of this kind."""
        return self._by_trigger[what]


def read_roster(tx: Transaction, before: Roster | None = None) -> Roster:
    """The current jobs; returns ``before`` if nothing changed."""
    mark = _mark(tx)
    if before is not None and before.mark == mark:
        return before
    jobs = current_jobs(tx)
    graph = active_graph(tx)
    asked = {key: job for key, job in jobs.items() if job.active and job.enabled}
    willing = {key: job for key, job in asked.items() if job.controls.kind is not None}
    ready = {key for key, job in willing.items() if graph and graph.knows(job.definition)}
    return Roster(
        mark=mark,
        jobs=jobs,
        ready=frozenset(ready),
        undeployed=tuple(
            job.name
            for key, job in willing.items()
            if key not in ready and is_triggered(job.controls)
        ),
        strange=tuple(
            job.name for key, job in asked.items() if key not in willing and _is_ours(job)
        ),
        wrong=tuple(job.name for job in willing.values() if job.parsed.reading.mistakes),
    )


def is_triggered(controls: JobControls) -> bool:
    return any(getattr(controls, what) for what in TRIGGERS)


def _is_ours(job: CurrentJob) -> bool:
    """Whether its triggers are ours to run."""
    return any(key in job.definition.config for key in TRIGGER_KEYS)


def _mark(tx: Transaction) -> Mark:
    """A mark that changes with any definition, switch or the active graph."""
    applies, switches, activations = registry_applies.c, job_switches.c, dag_activations.c
    return tuple(
        tx.execute(
            select(
                select(func.max(applies.ordinal))
                .where(applies.org_id == tx.org_id)
                .scalar_subquery(),
                select(func.count()).where(switches.org_id == tx.org_id).scalar_subquery(),
                select(func.max(activations.number))
                .where(activations.org_id == tx.org_id)
                .scalar_subquery(),
            )
        ).one()
    )
