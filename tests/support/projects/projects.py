"""Project folders for tests, applied and ready."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import Definitions
from tests.support.databases.databases import (
    STATE_SCHEMA,
    drop_copy,
    migrated_copy,
    migrated_file,
    shared_server,
)
from tests.support.projects.planes import numbers_definitions

_kind = ["sqlite"]
_copies: list[str] = []


@contextmanager
def states_of(kind: str) -> Iterator[None]:
    """Projects made meanwhile have their State on SQLite, or on PostgreSQL."""
    _kind[:] = [kind]
    yield
    _kind[:] = ["sqlite"]
    while _copies:
        drop_copy(_copies.pop())


def settings_text() -> str:
    """One environment on the kind of State that the test is about."""
    if _kind == ["sqlite"]:
        return "[env.dev]\n"
    _copies.append(migrated_copy())
    address = shared_server().url_in(_copies[-1])
    return f'[env.dev]\ndatabase = "{address}"\nschema = "{STATE_SCHEMA}"\n'


def copy_state(folder: Path) -> None:
    """The project's State is migrated before its first command; on a server it is already."""
    if _kind == ["sqlite"]:
        migrated_file(folder / ".lakeguard" / "state.db")


def make_project(folder: Path, definitions: Definitions, **dispatch: int) -> Client:
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{key} = {value}\n" for key, value in dispatch.items())
    output = f"\n[env.dev.dispatch]\n{lines}" if lines else ""
    (folder / "lakeguard.toml").write_text(settings_text() + output)
    copy_state(folder)
    client = connect(folder)
    client.registry.apply(client.registry.plan(definitions))
    return client


def numbers_project(folder: Path, load: LoadType = LoadType.APPEND) -> Client:
    return make_project(folder, numbers_definitions(load))
