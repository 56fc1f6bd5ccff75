"""Project folders for tests, applied and ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import Definitions
from tests.support.databases.databases import (
    OWNER,
    SERVICE,
    SERVICE_ROLE,
    STATE_SCHEMA,
    drop_copy,
    migrated_copy,
    migrated_file,
    shared_server,
)
from tests.support.projects.planes import numbers_definitions

_kind = ["sqlite"]
_copies: list[str] = []
_added: list[str] = []
_served: list[tuple[Path, str, Callable[[str], str]]] = []


@contextmanager
def states_of(kind: str) -> Iterator[None]:
    """Projects made meanwhile have their State on SQLite, or on PostgreSQL, as its owner or as a
    service role."""
    _kind[:] = [kind]
    yield
    _kind[:] = ["sqlite"]
    while _copies:
        drop_copy(_copies.pop())


@contextmanager
def settings_added(text: str) -> Iterator[None]:
    """Projects made meanwhile have these settings too."""
    _added.append(text)
    yield
    _added.remove(text)


@contextmanager
def settings_dropped() -> Iterator[None]:
    """Projects made meanwhile have the usual settings."""
    before = list(_added)
    _added.clear()
    yield
    _added.extend(before)


@contextmanager
def lakes_served(folder: Path, location: str, settings: Callable[[str], str]) -> Iterator[None]:
    """Projects made meanwhile below ``folder`` have their lakes below ``location``, in a store that
    keeps its objects as the files of that folder. ``settings`` are those of a lake."""
    _served.append((folder, location, settings))
    yield
    _served.pop()


def location_of(place: object) -> str:
    """A place on this machine, or where the lakes of these projects have it."""
    path = Path(str(place))
    for folder, location, _ in _served:
        if path.is_relative_to(folder):
            return f"{location}/{path.relative_to(folder)}".removesuffix("/.")
    return str(place)


def settings_text(folder: Path | None = None) -> str:
    """One environment on the kind of State that the test is about."""
    added = "".join(_added)
    for root, _, settings in _served:
        if folder is not None and folder.is_relative_to(root):
            added += settings(location_of(folder))
    if _kind == ["sqlite"]:
        return f"[env.dev]\n{added}"
    (kind,) = _kind
    _copies.append(migrated_copy(kind))
    role = SERVICE_ROLE if kind == SERVICE else OWNER
    address = shared_server().url_in(_copies[-1], role)
    owner = f'owner = "{OWNER}"\n' if kind == SERVICE else ""
    return f'[env.dev]\ndatabase = "{address}"\nschema = "{STATE_SCHEMA}"\n{owner}{added}'


def copy_state(folder: Path) -> None:
    """The project's State is migrated before its first command; on a server it is already."""
    if _kind == ["sqlite"]:
        migrated_file(folder / ".lakeguard" / "state.db")


def make_project(folder: Path, definitions: Definitions, **dispatch: int) -> Client:
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{key} = {value}\n" for key, value in dispatch.items())
    output = f"\n[env.dev.dispatch]\n{lines}" if lines else ""
    (folder / "lakeguard.toml").write_text(settings_text(folder) + output)
    copy_state(folder)
    client = connect(folder)
    client.registry.apply(client.registry.plan(definitions))
    return client


def numbers_project(folder: Path, load: LoadType = LoadType.APPEND) -> Client:
    return make_project(folder, numbers_definitions(load))
