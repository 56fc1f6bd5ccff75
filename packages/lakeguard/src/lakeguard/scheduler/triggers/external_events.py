"""External events. An event and the tasks it launches are recorded together, once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from lakeguard.dispatch.queue import tasks_under
from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.launch.launch import launch
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.scheduler.triggers import queries
from lakeguard.scheduler.triggers.tick import Watch
from lakeguard.scheduler.triggers.triggerable_jobs import Roster, read_roster
from lakeguard.state import outbox
from lakeguard.state.locks import hold
from lakeguard.state.schema import received_events
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import data_hash, hash_bytes
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import EventConflict, InvalidEvent, SecretInEvent
from lakeguard_sdk.expressions.json_values import NotJson, read_json
from lakeguard_sdk.scheduling.event_patterns import matches
from lakeguard_sdk.scheduling.jobs import Launch
from lakeguard_sdk.security.secret_values import holds_secret, is_written_out
from lakeguard_sdk.storage.fault_points import reached

# Event formats: CloudEvents 1.0 and EventBridge JSON. Pure.

MOST_BYTES = 256 * 1024
MOST_VALUES = 50
LONGEST_VALUE = 1_000
_LONGEST_NAME = 300


class Shape(StrEnum):
    CLOUDEVENTS = "cloudevents"
    EVENTBRIDGE = "eventbridge"


_REQUIRED = {
    Shape.CLOUDEVENTS: ("id", "source", "type"),
    Shape.EVENTBRIDGE: ("id", "source", "detail-type"),
}
_CONTENT = {Shape.CLOUDEVENTS: "data", Shape.EVENTBRIDGE: "detail"}


@dataclass(frozen=True)
class Event:
    """An external event, identified by ``source`` and ``event_id``."""

    shape: Shape
    source: str
    event_id: str
    type: str
    text: str
    content: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """A content hash, independent of JSON layout."""
        plain = json.dumps(self.content, sort_keys=True, default=_exact)
        return hash_bytes(plain.encode())

    def parameters(self) -> dict[str, str]:
        """Job parameters: the event's attributes and its content values by path.

        Values beyond a count or length limit are dropped, and the number dropped is included.
        """
        parameters = {
            "event.id": self.event_id,
            "event.source": self.source,
            "event.type": self.type,
        }
        inner = self.content.get(_CONTENT[self.shape])
        left_out = 0
        for path, value in _leaves(inner, "event"):
            if path in parameters or len(parameters) >= MOST_VALUES or len(value) > LONGEST_VALUE:
                left_out += 1
            else:
                parameters[path] = value
        return parameters | ({"event.left_out": str(left_out)} if left_out else {})


def _read_event(body: bytes, shape: str | None = None) -> Event:
    """Parse an event; raises InvalidEvent with the reason."""
    if len(body) > MOST_BYTES:
        raise InvalidEvent(reason=f"it has more than {MOST_BYTES:,} bytes")
    try:
        text = body.decode()
        content = read_json(text)
    except UnicodeDecodeError:
        raise InvalidEvent(reason="it is not written in UTF-8") from None
    except NotJson as problem:
        raise InvalidEvent(reason=f"it is not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise InvalidEvent(reason="it is not one object of JSON")
    found = _shape_of(content, shape)
    source, event_id, kind = _names(content, found)
    return Event(found, source, event_id, kind, text, content)


def _shape_of(content: Mapping[str, Any], stated: str | None) -> Shape:
    if stated is not None and stated not in set(Shape):
        raise InvalidEvent(reason=f"{stated!r:.40} is no shape ({', '.join(Shape)})")
    if "specversion" in content:
        if content["specversion"] != "1.0":
            raise InvalidEvent(reason="it is of another version of CloudEvents than 1.0")
        found = Shape.CLOUDEVENTS
    elif "detail-type" in content:
        found = Shape.EVENTBRIDGE
    else:
        raise InvalidEvent(reason="it has neither the specversion of CloudEvents nor a detail-type")
    if stated is not None and stated != found:
        raise InvalidEvent(reason=f"it has the shape of {found}, not of {stated}")
    if found is Shape.EVENTBRIDGE and not isinstance(content.get("detail"), dict):
        raise InvalidEvent(reason="its detail is no object")
    return found


def _names(content: Mapping[str, Any], shape: Shape) -> tuple[str, str, str]:
    for key in _REQUIRED[shape]:
        value = content.get(key)
        if not isinstance(value, str) or not value.strip():
            raise InvalidEvent(reason=f"it has no {key}")
        if len(value) > _LONGEST_NAME or not value.isprintable():
            raise InvalidEvent(
                reason=f"its {key} is longer than {_LONGEST_NAME} or cannot be shown"
            )
    event_id, source, kind = (str(content[key]) for key in _REQUIRED[shape])
    return source, event_id, kind


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif isinstance(value, str):
        yield path, value
    elif value is not None:
        yield path, _as_json(value)


def _as_json(value: Any) -> str:
    """Parse numbers without losing digits."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_as_json, value))}]"
    if isinstance(value, Mapping):
        members = (
            f"{json.dumps(key, ensure_ascii=False)}: {_as_json(inner)}"
            for key, inner in value.items()
        )
        return f"{{{', '.join(members)}}}"
    return json.dumps(value, ensure_ascii=False)


def _exact(value: Decimal) -> list[str]:
    return ["decimal", str(value)]


ACTOR = "trigger:event"


def receive(
    context: PlaneContext, body: bytes, shape: str | None = None, watch: Watch | None = None
) -> list[Launch]:
    """Launch jobs for an event. A repeated event launches nothing, not even jobs added since; the
    same id with other content is refused."""
    event, watch = _read_event(body, shape), watch or Watch()
    if holds_secret(event.text) or _names_secret(event.content):
        raise SecretInEvent()

    def work(tx: Transaction) -> list[Launch]:
        watch.roster = roster = read_roster(tx, watch.roster)
        jobs = _waiting(roster, event)
        hold(tx, f"triggers:{tx.org_id}:events")
        if not _store(tx, event):
            return _known(tx, roster, event)
        launches = launch(tx, context, [_request(job, event) for job in jobs])
        reached("trigger.launched")
        return launches

    launches = context.transact(work)
    reached("trigger.committed")
    return launches


def _names_secret(value: Any, path: str = "") -> bool:
    """Whether a string value sits under a key that names a secret."""
    match value:
        case dict():
            return any(_names_secret(inner, f"{path}.{key}") for key, inner in value.items())
        case list():
            return any(_names_secret(inner, path) for inner in value)
        case str():
            return value != "" and is_written_out(path, value)
    return False


def _waiting(roster: Roster, event: Event) -> list[CurrentJob]:
    """Jobs whose pattern matches the event."""
    return [
        job
        for job in roster.waiting("event")
        if job.controls.event is not None and matches(job.controls.event, event.content)
    ]


def _store(tx: Transaction, event: Event) -> bool:
    """Whether the event is new."""
    found = queries.received(tx.org_id, event.source, event.event_id)
    known = tx.execute(found).first()
    if known is not None:
        if known.body_hash != event.digest:
            raise EventConflict(event=event.event_id, source=event.source)
        return False
    last: int = tx.execute(queries.last_ordinal(tx.org_id)).scalar_one()
    at = tx.now()
    row = {
        "org_id": tx.org_id,
        "source": event.source,
        "event_id": event.event_id,
        "shape": event.shape.value,
        "type": event.type,
        "body": event.text,
        "body_hash": event.digest,
        "received_at": at,
        "ordinal": last + 1,
    }
    outbox.record(tx, received_events, [row], at)
    return True


def _known(tx: Transaction, roster: Roster, event: Event) -> list[Launch]:
    """What the event launched when first received."""
    rows = tx.execute(tasks_under(tx.org_id, _key(event)))
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


def _request(job: CurrentJob, event: Event) -> LaunchRequest:
    details = {"source": event.source, "id": event.event_id, "type": event.type}
    return LaunchRequest(
        job_id=job.job_id,
        key=_key(event),
        cause=Cause(kind=CauseKind.EVENT, details=details),
        actor=ACTOR,
        parameters=event.parameters(),
    )


def _key(event: Event) -> str:
    return f"event:{data_hash([event.source, event.event_id])}"
