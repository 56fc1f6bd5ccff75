"""Acts of people: whoever does what changes something is a user of the organisation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from lakeguard.access.users import known_user
from lakeguard.promotion.context import PlaneContext
from lakeguard.state.database import Database

_seen: WeakKeyDictionary[Database, set[tuple[str, str]]] = WeakKeyDictionary()
"""By State: who was recorded by this process already."""


class Port(Protocol):
    @property
    def context(self) -> PlaneContext: ...


Acts = TypeVar("Acts", bound=Port)
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def acting(
    method: Callable[Concatenate[Acts, Given], Answer],
) -> Callable[Concatenate[Acts, Given], Answer]:
    """The method, before which the actor is recorded; refused where he has no proper name."""

    @wraps(method)
    def act(self: Acts, /, *args: Given.args, **fields: Given.kwargs) -> Answer:
        _appear(self.context)
        return method(self, *args, **fields)

    return act


def _appear(context: PlaneContext) -> None:
    known, actor = _seen.setdefault(context.database, set()), (context.org_id, context.actor)
    if actor in known:
        return
    with context.write() as tx:
        known_user(tx, tx.actor)
    known.add(actor)
