"""Jobs: triggers, controls, the job graph and launches."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName, Word
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant

SIGNING_SECRET = "signing_secret"  # noqa: S105 - the name of a parameter
"""Detail of an http job that names its signing secret, ``env:NAME`` or ``file:PATH``."""


class CatchUp(StrEnum):
    """How to handle scheduled times missed while no dispatcher ran."""

    NONE = "none"
    LATEST = "latest"
    ALL = "all"


class Overlap(StrEnum):
    """How to handle a launch while the job is still running."""

    QUEUE = "queue"
    SKIP = "skip"


class CronTrigger(FrozenModel):
    schedule: str
    time_zone: str = "UTC"
    catch_up: CatchUp = CatchUp.LATEST


class UpdateTrigger(FrozenModel):
    """Launches after new versions of all datasets, or of any of them."""

    datasets: tuple[DatasetName, ...]
    any: bool = False


class JobControls(FrozenModel):
    """Settings of a job for the dispatcher, with defaults filled in."""

    kind: TaskKind | None = None
    """None if no worker can run it."""
    call: str = ""
    """``package.module:function`` of a Python job."""
    url: str = ""
    """URL of an http job."""
    timeout_seconds: int = 3600
    cron: CronTrigger | None = None
    updates: UpdateTrigger | None = None
    files: str = ""
    """A glob below the lake's root: each new file launches the job."""
    event: dict[str, Any] | None = None
    """Event pattern that launches the job."""
    after: tuple[Word, ...] = ()
    """Jobs whose success launches this one."""
    overlap: Overlap = Overlap.QUEUE
    concurrency: int = 1
    priority: int = 0
    labels: tuple[Word, ...] = ()
    attempts: int | None = None
    """None means the default of the settings."""
    outputs: tuple[Word, ...] = ()
    """Names of the outputs that a successful attempt must report."""


class Switch(FrozenModel):
    """An operator enabled or disabled a job."""

    enabled: bool
    at: Instant
    by: str
    reason: str = ""


class JobRow(FrozenModel):
    """The current state of a job."""

    job_id: str
    job: Word
    dataset: DatasetName | None = None
    kind: TaskKind | None = None
    active: bool
    """From its definition."""
    enabled: bool
    """As last set by an operator."""
    switched: Switch | None = None
    """The last switch; None if there was none."""
    deployed: bool
    """Whether the active graph contains it."""
    controls: JobControls
    next_at: Instant | None = None
    last_state: TaskState | None = None
    """Of its last task; dead if the process of a running one is gone."""
    last_at: Instant | None = None


class DagVersion(FrozenModel):
    """A version of the graph of jobs and datasets."""

    dag_version_id: str
    dag_hash: str
    created_at: Instant
    jobs: int
    datasets: int
    active: bool


class Deployed(FrozenModel):
    """Result of a deployment, or of its dry run."""

    dag_version_id: str
    dag_hash: str
    changed: bool
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    canceled: tuple[str, ...] = ()
    """Tasks of versions that are no longer active."""
    problems: tuple[str, ...] = ()
    """Tasks that could not be canceled; the dispatcher retries."""


class Launch(FrozenModel):
    """Result of a request to start a job."""

    job: Word
    task_id: str
    state: TaskState
    new: bool
    """False if the same launch already existed."""
    code: str = ""
    reason: str = ""
    """Why a launch gate refused it."""


class Ticked(FrozenModel):
    """Counts of one pass of the dispatcher loop."""

    scheduled: int = 0
    triggered: int = 0
    refused: int = 0
    retried: int = 0
    dead: int = 0
    reaped: int = 0
    invalidated: int = 0
    notified: int = 0
    """Events sent."""
    delivered: int = 0
    """Target database tables brought up to date."""
    settling: int = 0
    """New files that may still be incomplete."""
    problems: tuple[str, ...] = Field(default=())

    def then(self, later: Ticked) -> Ticked:
        """Both passes as one: counts add up; ``settling`` and ``problems`` are the later ones."""
        done = set(Ticked.model_fields) - {"settling", "problems"}
        return later.model_copy(
            update={name: getattr(self, name) + getattr(later, name) for name in done}
        )
