"""Events of other systems, as CloudEvents 1.0 or EventBridge write them in JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from lakeguard_sdk.canonical import hash_bytes
from lakeguard_sdk.errors import NoEvent
from lakeguard_sdk.json_texts import NotJson, read_json

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
    """What somebody else says has happened; ``source`` and ``event_id`` name it for good."""

    shape: Shape
    source: str
    event_id: str
    type: str
    text: str
    content: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Equal for equal content, however it is laid out."""
        plain = json.dumps(self.content, sort_keys=True, default=_exact)
        return hash_bytes(plain.encode())

    def parameters(self) -> dict[str, str]:
        """What a job is told: the names of the event, and the values of its content by path.

        Values beyond so many, or longer than so much, are left out, and their number is told.
        """
        told = {"event.id": self.event_id, "event.source": self.source, "event.type": self.type}
        inner = self.content.get(_CONTENT[self.shape])
        left_out = 0
        for path, value in _leaves(inner, "event"):
            if path in told or len(told) >= MOST_VALUES or len(value) > LONGEST_VALUE:
                left_out += 1
            else:
                told[path] = value
        return told | ({"event.left_out": str(left_out)} if left_out else {})


def read_event(body: bytes, shape: str | None = None) -> Event:
    """The event that a body is; NoEvent, with what is wrong, where it is none."""
    if len(body) > MOST_BYTES:
        raise NoEvent(reason=f"it has more than {MOST_BYTES:,} bytes")
    try:
        text = body.decode()
        content = read_json(text)
    except UnicodeDecodeError:
        raise NoEvent(reason="it is not written in UTF-8") from None
    except NotJson as problem:
        raise NoEvent(reason=f"it is not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise NoEvent(reason="it is not one object of JSON")
    found = _shape_of(content, shape)
    source, event_id, kind = _names(content, found)
    return Event(found, source, event_id, kind, text, content)


def _shape_of(content: Mapping[str, Any], said: str | None) -> Shape:
    if said is not None and said not in set(Shape):
        raise NoEvent(reason=f"{said!r:.40} is no shape ({', '.join(Shape)})")
    if "specversion" in content:
        if content["specversion"] != "1.0":
            raise NoEvent(reason="it is of another version of CloudEvents than 1.0")
        found = Shape.CLOUDEVENTS
    elif "detail-type" in content:
        found = Shape.EVENTBRIDGE
    else:
        raise NoEvent(reason="it has neither the specversion of CloudEvents nor a detail-type")
    if said is not None and said != found:
        raise NoEvent(reason=f"it has the shape of {found}, not of {said}")
    if found is Shape.EVENTBRIDGE and not isinstance(content.get("detail"), dict):
        raise NoEvent(reason="its detail is no object")
    return found


def _names(content: Mapping[str, Any], shape: Shape) -> tuple[str, str, str]:
    for key in _REQUIRED[shape]:
        value = content.get(key)
        if not isinstance(value, str) or not value.strip():
            raise NoEvent(reason=f"it has no {key}")
        if len(value) > _LONGEST_NAME or not value.isprintable():
            raise NoEvent(reason=f"its {key} is longer than {_LONGEST_NAME} or cannot be shown")
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
    """As it was written: a number keeps all its digits."""
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
