"""Events that other systems send. An event and the tasks it starts are recorded together, once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from lakeguard.dispatch.queue import tasks_under
from lakeguard.jobs.current import CurrentJob
from lakeguard.jobs.launching import launch
from lakeguard.jobs.wishes import Cause, CauseKind, Wish
from lakeguard.promotion.heart import Heart
from lakeguard.state import facts
from lakeguard.state.locking import hold
from lakeguard.state.tables import received_events
from lakeguard.triggers import statements
from lakeguard.triggers.roster import Roster, read_roster
from lakeguard.triggers.shapes import Event, read_event
from lakeguard.triggers.ticking import Watch
from lakeguard_sdk.canonical import data_hash
from lakeguard_sdk.errors import EventDiffers, SecretEvent
from lakeguard_sdk.event_patterns import matches
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.job import Launch
from lakeguard_sdk.secret_values import holds_secret, is_written_out
from lakeguard_sdk.words import TaskState

ACTOR = "trigger:event"


def receive(
    heart: Heart, body: bytes, shape: str | None = None, watch: Watch | None = None
) -> list[Launch]:
    """What the event launched. The same event again launches nothing, also for jobs that are new
    since; under the same name with other content it is refused."""
    event, watch = read_event(body, shape), watch or Watch()
    if holds_secret(event.text) or _names_secret(event.content):
        raise SecretEvent()

    def work(connection: Connection) -> list[Launch]:
        watch.roster = roster = read_roster(connection, heart.org_id, watch.roster)
        jobs = _waiting(roster, event)
        hold(connection, f"triggers:{heart.org_id}:events")
        if not _store(connection, heart, event):
            return _known(connection, heart.org_id, roster, event)
        launches = launch(connection, heart, [_wish(job, event) for job in jobs])
        reached("trigger.launched")
        return launches

    launches = heart.database.transact(work)
    reached("trigger.committed")
    return launches


def _names_secret(value: Any, path: str = "") -> bool:
    """Whether a text stands where a key, or one around it, speaks of a secret."""
    match value:
        case dict():
            return any(_names_secret(inner, f"{path}.{key}") for key, inner in value.items())
        case list():
            return any(_names_secret(inner, path) for inner in value)
        case str():
            return value != "" and is_written_out(path, value)
    return False


def _waiting(roster: Roster, event: Event) -> list[CurrentJob]:
    """Jobs whose pattern the event matches."""
    return [
        job
        for job in roster.waiting("event")
        if job.controls.event is not None and matches(job.controls.event, event.content)
    ]


def _store(connection: Connection, heart: Heart, event: Event) -> bool:
    """Whether the event is new."""
    found = statements.received(heart.org_id, event.source, event.event_id)
    known = connection.execute(found).first()
    if known is not None:
        if known.body_hash != event.digest:
            raise EventDiffers(event=event.event_id, source=event.source)
        return False
    last: int = connection.execute(statements.last_ordinal(heart.org_id)).scalar_one()
    at = heart.clock()
    row = {
        "org_id": heart.org_id,
        "source": event.source,
        "event_id": event.event_id,
        "shape": event.shape.value,
        "type": event.type,
        "body": event.text,
        "body_hash": event.digest,
        "received_at": at,
        "ordinal": last + 1,
    }
    facts.record(connection, received_events, [row], at)
    return True


def _known(connection: Connection, org_id: str, roster: Roster, event: Event) -> list[Launch]:
    """What the event launched when it came first, whatever became of its jobs since."""
    rows = connection.execute(tasks_under(org_id, _key(event)))
    return [
        Launch(
            job=roster.jobs[row.job_id].name,
            task_id=row.task_id,
            state=TaskState(row.state),
            new=False,
            code=row.code or "",
            reason=row.message or "",
        )
        for row in sorted(rows, key=lambda row: str(row.job_id))
    ]


def _wish(job: CurrentJob, event: Event) -> Wish:
    details = {"source": event.source, "id": event.event_id, "type": event.type}
    return Wish(
        job_id=job.job_id,
        key=_key(event),
        cause=Cause(kind=CauseKind.EVENT, details=details),
        actor=ACTOR,
        parameters=event.parameters(),
    )


def _key(event: Event) -> str:
    return f"event:{data_hash([event.source, event.event_id])}"
