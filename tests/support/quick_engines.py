"""States of tests cost less: made by copying, compiled once, and not waiting for the disk.

Every State has an engine of its own, which would compile every statement again, and a new file
would be migrated again. A killed process loses nothing that it committed, synchronous or not.
``tests/migration`` works on what users have.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.util import LRUCache

from lakeguard.state import migrate
from lakeguard.state.connections import sqlite_path
from lakeguard.state.database import Database

_STATEMENTS = 5_000
_upgrade = migrate.upgrade


class _Compiled:
    """Compiled statements by kind of database, where an engine keeps them by its own dialect."""

    def __init__(self) -> None:
        self._kept: LRUCache[Any, Any] = LRUCache(_STATEMENTS)

    def get(self, key: tuple[Any, ...]) -> Any:
        return self._kept.get((type(key[0]), *key[1:]))

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        self._kept[(type(key[0]), *key[1:])] = compiled


_compiled = _Compiled()


def _save_work(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_compiled)
    if connection.dialect.name == "sqlite":
        connection.connection.cursor().execute("PRAGMA synchronous = OFF")


def _copy_or_upgrade(engine: Engine, place: str) -> None:
    path = sqlite_path(engine.url)
    if path is None or path.exists():
        _upgrade(engine, place)
    else:
        migrated_file(path)


def _begin() -> None:
    event.listen(Engine, "engine_connect", _save_work)
    migrate.upgrade = _copy_or_upgrade


_begin()


@contextmanager
def as_users_have_them() -> Iterator[None]:
    """Engines do all of their own work meanwhile, and new files are migrated."""
    event.remove(Engine, "engine_connect", _save_work)
    migrate.upgrade = _upgrade
    try:
        yield
    finally:
        _begin()


def migrated_file(path: Path) -> None:
    """A State on SQLite as a first command leaves it, copied instead of made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    shutil.copyfile(_template_file(), beside)
    beside.rename(path)  # nobody sees half of it


@cache
def _template_file() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="lakeguard-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    database = Database(f"sqlite:///{folder}/state.db")
    _upgrade(database.engine, database.place)
    database.close()
    return folder / "state.db"
