"""Workers: taking tasks from the queue and running each to its end."""

from lakeguard.work.attempt import Attempt, Ended, Ending
from lakeguard.work.bench import Bench
from lakeguard.work.delivering import Deliveries
from lakeguard.work.loop import Manner, Told, WorkLoop
from lakeguard.work.seclusion import seclude

__all__ = [
    "Attempt",
    "Bench",
    "Deliveries",
    "Ended",
    "Ending",
    "Manner",
    "Told",
    "WorkLoop",
    "seclude",
]
