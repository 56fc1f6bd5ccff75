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
    """Repeating the call returns the same answer and changes nothing more."""
    KEYED = "keyed"
    """It is safe to repeat with the same ``Idempotency-Key``."""
    ONCE = "once"
    """Never retried automatically: what a lost answer assigned is released when its lease ends."""


@dataclass(frozen=True)
class Operation:
    """``port.method`` as ``verb path``.

    Path fields name parameters, or a field of one (``{ticket.run_id}``). Other parameters are sent
    in the query of a GET or DELETE, and in the body otherwise.
    """

    port: str
    method: str
    verb: str
    path: str
    effect: Effect
    answer: str = ""
    """The field that holds the answer, if the answer is not a model itself."""
    long: bool = False
    """Answered with 202 and an operation, which the caller polls until it has ended."""
    paged: bool = False
    rows: bool = False
    """The body holds values of rows, which may contain any character."""
    tagged: bool = False
    """The answer has an ETag."""
    streamed: bool = False
    """The answer is also available as server-sent events."""
    raw: bool = False
    """The body is passed to the method unchanged."""

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
