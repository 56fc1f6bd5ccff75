"""What each queue promises of a task that was completed, in the same five terms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantees:
    fencing: str
    """What becomes of the word of a worker that lost its task."""
    history: str
    again: str
    """The same end reported twice."""
    audit: str
    retries: str

    @property
    def text(self) -> str:
        return "; ".join(f"{term}: {words}" for term, words in vars(self).items())


OURS = Guarantees(
    fencing="an end counts only from the newest attempt, by its lease token",
    history="a row for each attempt, each change of state and each end; none is ever removed",
    again="the first answer, byte for byte; another end for the same attempt is refused",
    audit="each change with its number, actor and reason, delivered to the ledger on the lake",
    retries="by itself, after failures that may pass and lost workers, up to a limit, then dead",
)
PROCRASTINATE = Guarantees(
    fencing="none: any worker that knows the id ends the job while it counts as doing",
    history="the job's row stays, with an event for each change of state",
    again="an error: the job is no longer doing",
    audit="events have a type and a time, no actor and no reason",
    retries="after failures by a strategy of the task; stalled jobs when the user's own"
    " periodic task asks for them",
)
PGQUEUER = Guarantees(
    fencing="none: a job is ended by its id, whoever picked it since",
    history="the job's row is removed; a log has a row for each change of state",
    again="ignored silently",
    audit="log rows have a status, a time and a traceback, no actor",
    retries="jobs without a heartbeat are picked again; after failures with an executor that"
    " asks for it. Ends wait in memory for their batch, so a killed worker's are run again",
)
