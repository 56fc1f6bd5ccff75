"""One row of the table of operations: how a method of a port is called over HTTP."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

PREFIX = "/api/v1"
_FIELD = re.compile(r"\{([a-z_.]+)\}")


class Effect(StrEnum):
    """What a repeated call does, which decides whether a client may retry it."""

    SAFE = "safe"
    """It changes nothing."""
    IDEMPOTENT = "idempotent"
    """The same call again has the same answer and changes nothing more."""
    KEYED = "keyed"
    """It is repeated safely with the same ``Idempotency-Key``."""
    ONCE = "once"
    """It is never repeated by itself: what a lost answer held is given up when its lease ends."""


@dataclass(frozen=True)
class Operation:
    """``port.method`` as ``verb path``.

    Path fields name parameters, or a field of one (``{ticket.run_id}``). Other parameters stand in
    the query of a GET or DELETE, and in the body of all else.
    """

    port: str
    method: str
    verb: str
    path: str
    effect: Effect
    answer: str = ""
    """The field that holds an answer which is no model."""
    long: bool = False
    """Answered by an operation that the caller asks for until it has ended."""
    paged: bool = False
    rows: bool = False
    """The body holds values of rows, which may have any character."""
    tagged: bool = False
    """The answer has an ETag, which the caller may send back as If-Match."""
    streamed: bool = False
    """The answer may be had as server-sent events, as they happen."""
    raw: bool = False
    """The body is not JSON of ours, and is passed on as it came."""

    @property
    def name(self) -> str:
        return f"{self.port}.{self.method}"

    @property
    def url(self) -> str:
        return PREFIX + self.path

    @cached_property
    def path_fields(self) -> tuple[str, ...]:
        """As written: ``name``, ``ticket.run_id``."""
        return tuple(_FIELD.findall(self.path))

    @cached_property
    def template(self) -> str:
        """The path with the last part of each field's name: ``/runs/{run_id}``."""
        return _FIELD.sub(lambda field: f"{{{field[1].rpartition('.')[2]}}}", self.url)

    @property
    def has_body(self) -> bool:
        return self.verb not in ("GET", "DELETE")
