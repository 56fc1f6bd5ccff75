"""States of tests cost less: statements are compiled once, and nothing waits for the disk.

Every State has an engine of its own, which would compile every statement again. A killed process
loses nothing that it committed, synchronous or not; ``tests/migration`` keeps what users have.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.util import LRUCache

_STATEMENTS = 5_000


class _Compiled:
    """Compiled statements by kind of database, where an engine keeps them by its own dialect."""

    def __init__(self) -> None:
        self._kept: LRUCache[Any, Any] = LRUCache(_STATEMENTS)

    def get(self, key: tuple[Any, ...]) -> Any:
        return self._kept.get((type(key[0]), *key[1:]))

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        self._kept[(type(key[0]), *key[1:])] = compiled


_compiled = _Compiled()


@event.listens_for(Engine, "engine_connect")
def _save_work(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_compiled)
    if connection.dialect.name == "sqlite":
        connection.connection.cursor().execute("PRAGMA synchronous = OFF")


@contextmanager
def as_users_have_them() -> Iterator[None]:
    """Engines do all of their own work meanwhile."""
    event.remove(Engine, "engine_connect", _save_work)
    yield
    event.listen(Engine, "engine_connect", _save_work)
