"""How a job is started, run and held back: what its definition and its settings come to."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName, Word
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant

SIGNING_SECRET = "signing_secret"  # noqa: S105 - the name of a parameter
"""The detail of a job of type ``http`` that names what its calls are signed with, ``env:NAME`` or
``file:PATH``."""


class CatchUp(StrEnum):
    """What is done about times that passed while nobody looked."""

    NONE = "none"
    LATEST = "latest"
    ALL = "all"


class Overlap(StrEnum):
    """What becomes of a launch while the job is still under way."""

    QUEUE = "queue"
    SKIP = "skip"


class CronTrigger(FrozenModel):
    schedule: str
    time_zone: str = "UTC"
    catch_up: CatchUp = CatchUp.LATEST


class UpdateTrigger(FrozenModel):
    """Versions of datasets: of all of them since the last launch, or of any."""

    datasets: tuple[DatasetName, ...]
    any: bool = False


class JobControls(FrozenModel):
    """What the dispatcher needs to know of a job, with every default filled in."""

    kind: TaskKind | None = None
    """None where nothing here runs it."""
    call: str = ""
    """``package.module:function`` of a job in Python."""
    url: str = ""
    """Where an outside orchestrator is told to start."""
    timeout_seconds: int = 3600
    cron: CronTrigger | None = None
    updates: UpdateTrigger | None = None
    files: str = ""
    """A glob below the lake's root: each new file launches the job."""
    event: dict[str, Any] | None = None
    """The pattern that an event has to match."""
    after: tuple[Word, ...] = ()
    """Jobs that have to end well before: their ends launch this one."""
    overlap: Overlap = Overlap.QUEUE
    concurrency: int = 1
    priority: int = 0
    labels: tuple[Word, ...] = ()
    attempts: int | None = None
    """None: as the settings say."""
    outputs: tuple[Word, ...] = ()
    """What a success has to bring, by name."""


class Switch(FrozenModel):
    """An operator's word on whether a job may start."""

    enabled: bool
    at: Instant
    by: str
    reason: str = ""


class JobRow(FrozenModel):
    """A job as it stands now."""

    job_id: str
    job: Word
    dataset: DatasetName | None = None
    kind: TaskKind | None = None
    active: bool
    """As its definition says."""
    enabled: bool
    """As an operator switched it last."""
    switched: Switch | None = None
    """That switch; None where nobody did."""
    deployed: bool
    """Whether the active graph knows it."""
    controls: JobControls
    next_at: Instant | None = None
    last_state: TaskState | None = None
    last_at: Instant | None = None


class DagVersion(FrozenModel):
    """A graph of jobs and datasets under its hash."""

    dag_version_id: str
    dag_hash: str
    created_at: Instant
    jobs: int
    datasets: int
    active: bool


class Deployed(FrozenModel):
    """What a deployment came to, or would come to."""

    dag_version_id: str
    dag_hash: str
    changed: bool
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    canceled: tuple[str, ...] = ()
    """Tasks of a version that is no longer the active one."""
    problems: tuple[str, ...] = ()
    """What of those tasks could not be ended: a dispatcher goes on trying."""


class Launch(FrozenModel):
    """What became of a wish to start a job."""

    job: Word
    task_id: str
    state: TaskState
    new: bool
    """False where the same was launched before."""
    code: str = ""
    reason: str = ""
    """Why a gate refused it."""


class Ticked(FrozenModel):
    """What one turn of the dispatcher's loops did."""

    scheduled: int = 0
    triggered: int = 0
    refused: int = 0
    retried: int = 0
    dead: int = 0
    reaped: int = 0
    invalidated: int = 0
    told: int = 0
    delivered: int = 0
    """Tables of data databases that show what is published again."""
    settling: int = 0
    """Files that are new and may still be being written."""
    problems: tuple[str, ...] = Field(default=())

    def then(self, later: Ticked) -> Ticked:
        """Both turns as one: what was done adds up, what is left is what the later one left."""
        done = set(Ticked.model_fields) - {"settling", "problems"}
        return later.model_copy(
            update={name: getattr(self, name) + getattr(later, name) for name in done}
        )
