"""Workers: taking tasks from the queue and running each to its end."""

from lakeguard.worker.attempt import Attempt, Ended, Ending
from lakeguard.worker.loop import Manner, Told, WorkLoop, seclude
from lakeguard.worker.redelivery import Deliveries
from lakeguard.worker.task_runner import TaskRunner

__all__ = [
    "Attempt",
    "Deliveries",
    "Ended",
    "Ending",
    "Manner",
    "TaskRunner",
    "Told",
    "WorkLoop",
    "seclude",
]
