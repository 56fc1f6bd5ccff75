"""The graph of datasets and jobs: dependencies of datasets, and which job runs after which.

Its hash depends on content alone: not on ids, order, or settings read on every tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from lakeguard.registry.files.job_settings import controls_of
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import JobDefinition


class GraphJob(FrozenModel):
    """A job node of the graph."""

    type: str
    dataset: str | None = None
    after: tuple[str, ...] = ()


class Graph(FrozenModel):
    datasets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Datasets with their parents, ordered by name."""
    jobs: dict[str, GraphJob] = Field(default_factory=dict)


class Differences(FrozenModel):
    """The difference between two graphs: added, removed, changed."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()


def graph_of(datasets: Mapping[str, Iterable[str]], jobs: Iterable[JobDefinition]) -> Graph:
    """The graph of everything registered, disabled jobs and datasets included."""
    return Graph(
        datasets={name: tuple(sorted(parents)) for name, parents in sorted(datasets.items())},
        jobs={job.job: graph_job(job) for job in sorted(jobs, key=lambda job: job.job)},
    )


def graph_job(job: JobDefinition) -> GraphJob:
    return GraphJob(
        type=job.type,
        dataset=None if job.dataset is None else str(job.dataset),
        after=tuple(sorted(controls_of(job).after)),
    )


def differences(before: Graph, after: Graph) -> Differences:
    """Jobs, datasets and edges as short texts."""
    old, new = _attributes(before), _attributes(after)
    altered = sorted(
        f"{thing}: {old[thing]} → {new[thing]}"
        for thing in old.keys() & new.keys()
        if old[thing] != new[thing]
    )
    was, now = _edges(before), _edges(after)
    return Differences(
        added=(*sorted(new.keys() - old.keys()), *sorted(now - was)),
        removed=(*sorted(old.keys() - new.keys()), *sorted(was - now)),
        altered=tuple(altered),
    )


def _attributes(graph: Graph) -> dict[str, Any]:
    """Each job and dataset with its attributes, without edges."""
    jobs = {f"job {name}": _job_words(job) for name, job in graph.jobs.items()}
    return {**jobs, **{f"dataset {name}": "" for name in graph.datasets}}


def _job_words(job: GraphJob) -> str:
    return f"{job.type} of {job.dataset}" if job.dataset else job.type


def _edges(graph: Graph) -> set[str]:
    parents = {
        f"dependency {low} → {name}" for name, all_ in graph.datasets.items() for low in all_
    }
    after = {
        f"dependency job {first} → {name}"
        for name, job in graph.jobs.items()
        for first in job.after
    }
    return parents | after
