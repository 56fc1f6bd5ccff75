"""Workers claim tasks from the queue and run them."""

from lakeguard.worker.attempt import Attempt, Ended, Ending
from lakeguard.worker.loop import WorkerEvent, WorkerOptions, WorkLoop, isolate_process
from lakeguard.worker.redelivery import Redelivery
from lakeguard.worker.task_runner import TaskRunner

__all__ = [
    "Attempt",
    "Ended",
    "Ending",
    "Redelivery",
    "TaskRunner",
    "WorkLoop",
    "WorkerEvent",
    "WorkerOptions",
    "isolate_process",
]
