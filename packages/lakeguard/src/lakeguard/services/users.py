"""Records the actor of every mutating call as a user of the organisation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from lakeguard.access.users import is_program, known_user
from lakeguard.promotion.context import PlaneContext
from lakeguard.state.database import Database

_recorded: WeakKeyDictionary[Database, set[tuple[str, str]]] = WeakKeyDictionary()
"""By State: actors this process has recorded."""


class Port(Protocol):
    @property
    def context(self) -> PlaneContext: ...


PortType = TypeVar("PortType", bound=Port)
Params = ParamSpec("Params")
Result = TypeVar("Result")


def records_actor(
    method: Callable[Concatenate[PortType, Params], Result],
) -> Callable[Concatenate[PortType, Params], Result]:
    """Records the actor before the method runs; refused if the actor's name is invalid."""

    @wraps(method)
    def wrapper(self: PortType, /, *args: Params.args, **fields: Params.kwargs) -> Result:
        _record(self.context)
        return method(self, *args, **fields)

    return wrapper


def _record(context: PlaneContext) -> None:
    known, actor = _recorded.setdefault(context.database, set()), (context.org_id, context.actor)
    if actor in known or is_program(context.actor):
        return
    with context.write() as tx:
        known_user(tx, tx.actor)
    known.add(actor)
