"""Connecting to a control plane: a folder, or later the address of a service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, Self, cast
from urllib.parse import urlsplit

from lakeguard_sdk.errors import UnknownPlane, WorkerMissing
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.model.history import RebuildPlan, Rebuilt, Surveyed, SurveyPlan
from lakeguard_sdk.model.notifications import Alerts, Events
from lakeguard_sdk.model.profile import Profile
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.model.run import RunResult, RunTicket
from lakeguard_sdk.model.source_preview import SourceSketch
from lakeguard_sdk.ports import Ledger, Memory, Operations, Reader, Registry, Runs
from lakeguard_sdk.scheduling.tasks import Dispatch, Jobs

PLANES = "lakeguard_sdk.planes"
WORKERS = "lakeguard_sdk.workers"
INSPECTORS = "lakeguard_sdk.inspectors"
PROFILERS = "lakeguard_sdk.profilers"
REMEASURERS = "lakeguard_sdk.remeasurers"


@dataclass(frozen=True)
class WorkerClient:
    """What a data plane is handed: it cannot write a definition, a decision or a version."""

    reader: Reader
    runs: Runs
    lake: str
    """Location of the lake's root, for sources with relative paths."""
    project: str = ""
    """The folder that holds the modules of builds; empty where it is the lake's root."""


class DeliveryLoop(Protocol):
    """Brings what a client wrote to the ledger on the lake and to channels."""

    def start(self) -> None:
        """Deliver in the background, soon after each write, until closed."""

    def deliver(self) -> None:
        """Deliver what is written by now."""

    def close(self) -> None:
        """Stop, and deliver what is left."""


@dataclass(frozen=True)
class Client:
    """An operator's client, or, connected with a run's ticket, one whose other ports refuse.

    Whoever connects closes it, best by ``with connect(url) as client``: meanwhile what it writes
    is delivered in the background. What nobody delivered, the next client of the lake does.
    """

    reader: Reader
    runs: Runs
    registry: Registry
    operations: Operations
    ledger: Ledger
    memory: Memory
    alerts: Alerts
    events: Events
    jobs: Jobs
    dispatch: Dispatch
    lake: str
    project: str = ""
    delivery: DeliveryLoop | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Deliver in the background what is written from now on."""
        if self.delivery is not None:
            self.delivery.start()

    def deliver(self) -> None:
        """Deliver what is written by now."""
        if self.delivery is not None:
            self.delivery.deliver()

    def close(self) -> None:
        """Deliver what is left; nothing is delivered in the background any more."""
        if self.delivery is not None:
            self.delivery.close()

    def for_worker(self) -> WorkerClient:
        return WorkerClient(
            reader=self.reader, runs=self.runs, lake=self.lake, project=self.project
        )


Progress = Callable[[str, dict[str, Any]], None]
"""Told the stage that begins and what is known so far."""


class Worker(Protocol):
    """Runs queued tasks to their ends, from any number of threads.

    Once stopped, runs under way end as interrupted, and ``run_task`` raises KeyboardInterrupt.
    Stopping again does no harm.
    """

    def run_task(self, task_id: str) -> RunResult: ...
    def run_claimed(self, ticket: RunTicket, *, within: float | None = None) -> RunResult:
        """An attempt that was taken from the queue, for so many seconds at most."""

    def run_compaction(self, task_id: str) -> RunResult: ...
    def run_adoption(self, task_id: str) -> RunResult: ...
    def rebuild(self, plan: RebuildPlan) -> Rebuilt: ...
    def markers(self, places: Sequence[DataPlace]) -> tuple[PlaceMarkers, ...]:
        """What data databases say of the tables that were delivered to them; nothing is changed."""

    def deliver(self, delivery: Delivery) -> bool:
        """Make the table show what is published now; whether there was anything to do."""

    def stop(self) -> None: ...


def connect(url: str | Path, *, env: str | None = None, ticket: RunTicket | None = None) -> Client:
    """The control plane at ``url``. With a ticket, a client that may do no more than that run."""
    text = str(url)
    name = "remote" if urlsplit(text).scheme in ("http", "https") else "embedded"
    plane = _load(PLANES, name)
    if plane is None:
        raise UnknownPlane(url=text)
    return cast(Callable[..., Client], plane)(text, env=env, ticket=ticket)


def local_worker(
    client: WorkerClient, *, spark_options: dict[str, str], progress: Progress | None = None
) -> Worker:
    """The worker of the data plane that is installed here; ``progress`` hears of each stage."""
    create = _load(WORKERS, "openlaketx")
    if create is None:
        raise WorkerMissing()
    return cast(Callable[..., Worker], create)(
        client, spark_options=spark_options, progress=progress
    )


def look(
    pattern: str,
    root: str,
    *,
    whole: bool = False,
    ask: Callable[[SourceSketch], Sequence[Measure]] | None = None,
) -> SourceSketch:
    """What the files of a pattern hold, by the data plane that is installed here.

    A relative pattern is below ``root``. ``NothingToLookAt`` where no source could be made of it.
    ``whole`` looks at every row of a Delta table. With ``ask`` the sketch has profiles of its
    columns, and the answers to what ``ask`` wants to know of the same rows.
    """
    found = _load(INSPECTORS, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast(Callable[..., SourceSketch], found)(pattern, root, whole=whole, ask=ask)


def profile(dataset: ResolvedDataset, *, masked: tuple[str, ...] = ()) -> Profile:
    """What a version looks like, by the data plane that is installed here, without Spark.

    Of columns in ``masked`` no value is told.
    """
    found = _load(PROFILERS, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast(Callable[..., Profile], found)(dataset, masked=masked)


def survey(plan: SurveyPlan) -> Surveyed:
    """Measures of a version, by the data plane that is installed here, without Spark."""
    found = _load(REMEASURERS, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast(Callable[..., Surveyed], found)(plan)


def _load(group: str, name: str) -> object | None:
    found = next(iter(entry_points(group=group, name=name)), None)
    return None if found is None else found.load()
