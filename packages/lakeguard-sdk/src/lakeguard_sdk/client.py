"""Connects to a control plane: a folder, or the URL of a service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast
from urllib.parse import urlsplit

from lakeguard_sdk.errors import UnknownPlane, WorkerMissing

if TYPE_CHECKING:
    from lakeguard_sdk.expressions.measures import Measure
    from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
    from lakeguard_sdk.model.history import RebuildPlan, Rebuilt, Remeasured, RemeasurePlan
    from lakeguard_sdk.model.notifications import Notifications
    from lakeguard_sdk.model.profile import Profile
    from lakeguard_sdk.model.read_models import ResolvedDataset
    from lakeguard_sdk.model.run import RunResult, RunTicket
    from lakeguard_sdk.model.source_preview import SourcePreview
    from lakeguard_sdk.model.verification import Audit
    from lakeguard_sdk.ports import History, Ledger, Operations, Reader, Registry, Runs
    from lakeguard_sdk.records.repository import MetadataRepository
    from lakeguard_sdk.scheduling.tasks import Dispatch, Jobs

PLANES = "lakeguard_sdk.planes"
WORKERS = "lakeguard_sdk.workers"
INSPECTORS = "lakeguard_sdk.inspectors"
PROFILERS = "lakeguard_sdk.profilers"
REMEASURERS = "lakeguard_sdk.remeasurers"


@dataclass(frozen=True)
class WorkerClient:
    """The client of a data plane: it cannot write definitions, decisions or versions."""

    reader: Reader
    runs: Runs
    lake: str
    """Location of the lake's root, for sources with relative paths."""
    project: str = ""
    """Folder with the modules of builds; empty if it is the lake's root."""


class DeliveryLoop(Protocol):
    """Delivers what a client wrote to the ledger on the lake and to channels."""

    def start(self) -> None:
        """Deliver in the background, soon after each write, until closed."""

    def wake(self) -> None:
        """Deliver soon what another process wrote."""

    def watch(self, commits: Callable[[], int]) -> None:
        """Also deliver soon after the count of ``commits`` increases."""

    def deliver(self) -> None:
        """Deliver everything written so far."""

    def close(self) -> None:
        """Stop, and deliver the rest."""


@dataclass(frozen=True)
class Client:
    """An operator's client; with a run's ticket, ports beyond reader and runs refuse every call.

    Use ``with connect(url) as client``: writes are delivered in the background until it closes.
    The next client of the lake delivers what was left undelivered.
    """

    reader: Reader
    runs: Runs
    registry: Registry
    operations: Operations
    ledger: Ledger
    audit: Audit
    history: History
    notifications: Notifications
    jobs: Jobs
    dispatch: Dispatch
    records: MetadataRepository
    lake: str
    project: str = ""
    delivery: DeliveryLoop | None = None
    spark_options: dict[str, str] = field(default_factory=dict)
    """Spark settings of the environment."""
    heartbeat_seconds: float = 30.0
    """How often a worker extends its leases."""
    url: str = ""
    """Where another process connects to the same control plane, with ``env``."""
    env: str | None = None
    actions: frozenset[str] | None = None
    """What the token of a service allows, at least somewhere; None: not known, or everything."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start background delivery."""
        if self.delivery is not None:
            self.delivery.start()

    def wake(self) -> None:
        """Deliver soon, in the background, what another process wrote."""
        if self.delivery is not None:
            self.delivery.wake()

    def deliver(self) -> None:
        """Deliver everything written so far."""
        if self.delivery is not None:
            self.delivery.deliver()

    def close(self) -> None:
        """Stop background delivery, and deliver the rest."""
        if self.delivery is not None:
            self.delivery.close()

    def for_worker(self) -> WorkerClient:
        return WorkerClient(
            reader=self.reader, runs=self.runs, lake=self.lake, project=self.project
        )


Progress = Callable[[str, dict[str, Any]], None]
"""Called with the stage that begins and its details."""


class Worker(Protocol):
    """Runs tasks to completion; thread-safe.

    After ``stop``, running tasks end as interrupted and ``run_task`` raises KeyboardInterrupt.
    ``stop`` is idempotent.
    """

    def run_task(self, task_id: str) -> RunResult: ...
    def run_claimed(self, ticket: RunTicket, *, within: float | None = None) -> RunResult:
        """Run a claimed attempt, with an optional timeout in seconds."""

    def run_compaction(self, task_id: str) -> RunResult: ...
    def run_adoption(self, task_id: str) -> RunResult: ...
    def rebuild(self, plan: RebuildPlan) -> Rebuilt: ...
    def markers(self, places: Sequence[DataPlace]) -> tuple[PlaceMarkers, ...]:
        """Read the markers of delivered tables from target databases."""

    def deliver(self, delivery: Delivery) -> bool:
        """Bring the table to the published version; returns whether it changed."""

    def stop(self) -> None: ...


def connect(
    url: str | Path,
    *,
    env: str | None = None,
    ticket: RunTicket | None = None,
    token: str | None = None,
) -> Client:
    """The control plane at ``url``: a folder, or a service. With a ticket, the client of a folder
    may do no more than that run. A token is for a service, that of a task for no more than its run;
    without one, ``LAKEGUARD_TOKEN`` is sent."""
    text = str(url)
    is_remote = urlsplit(text).scheme in ("http", "https")
    plane = _load(PLANES, "remote" if is_remote else "embedded")
    if plane is None:
        raise UnknownPlane(url=text)
    create = cast(Callable[..., Client], plane)
    if is_remote:
        return replace(create(text, token=token), url=text, env=env)
    client = create(text, env=env, ticket=ticket)
    return replace(client, url=str(Path(text).resolve()), env=env)


def local_worker(
    client: WorkerClient, *, spark_options: dict[str, str], progress: Progress | None = None
) -> Worker:
    """The worker of the installed data plane; ``progress`` is called for each stage."""
    create = _load(WORKERS, "openlaketx")
    if create is None:
        raise WorkerMissing()
    return cast("Callable[..., Worker]", create)(
        client, spark_options=spark_options, progress=progress
    )


def inspect_source(
    pattern: str,
    root: str,
    *,
    whole: bool = False,
    ask: Callable[[SourcePreview], Sequence[Measure]] | None = None,
) -> SourcePreview:
    """Inspects the files that match a pattern, with the installed data plane.

    A relative pattern is resolved against ``root``. Raises ``SourceNotInspectable`` if the files
    cannot be a source. ``whole`` reads every row of a Delta table. With ``ask``, the result has
    column profiles and the values of the measures that ``ask`` returns.
    """
    found = _load(INSPECTORS, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast("Callable[..., SourcePreview]", found)(pattern, root, whole=whole, ask=ask)


def profile(
    dataset: ResolvedDataset, reader: Reader | None = None, *, masked: tuple[str, ...] = ()
) -> Profile:
    """Profiles a version with the installed data plane, without Spark.

    Its files are compared with the records of a ``reader`` first. No values of ``masked`` columns
    are included.
    """
    found = _load(PROFILERS, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast("Callable[..., Profile]", found)(dataset, reader, masked=masked)


def remeasure(plan: RemeasurePlan, reader: Reader | None = None) -> Remeasured:
    """Measures a published version with the installed data plane, without Spark.

    Its files are compared with the records of a ``reader`` first.
    """
    found = _load(REMEASURERS, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast("Callable[..., Remeasured]", found)(plan, reader)


def _load(group: str, name: str) -> object | None:
    found = next(iter(entry_points(group=group, name=name)), None)
    return None if found is None else found.load()
