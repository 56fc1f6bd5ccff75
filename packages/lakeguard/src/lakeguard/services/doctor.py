"""Health check of an installation and a project. Read-only."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import entry_points, version
from pathlib import Path
from platform import python_version
from typing import cast

from lakeguard.notifications.channel_checks import ChannelHealth, examine_channel
from lakeguard.notifications.sender import senders_of
from lakeguard.registry.load_folder import load_folder
from lakeguard.services.definition_counts import counted
from lakeguard.services.plain_text import plural
from lakeguard.settings import SETTINGS_FILE, Settings, find_project, load_settings
from lakeguard.state.database import Database
from lakeguard.state.health_check import examine_database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.row_security import require_bound
from lakeguard_sdk.client import connect
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import LakeGuardError, NoProject, StateLoginRefused, StoreUnavailable
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.storage.storage import Storage, is_remote, join, local_path, storage_for

DOCTORS = "lakeguard_sdk.doctors"
"""Entry points of data planes. Each is called with the location of the lake, empty if that is
unknown, and returns a list of (name, whether it is present, details, the command that installs
it)."""

Doctor = Callable[[str], list[tuple[str, bool, str, str]]]
OpenState = Callable[[Settings], Database]


class Finding(FrozenModel):
    """One check; ``fix`` is the command to type where it failed."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def examine(start: Path, env: str | None, open_state: OpenState) -> list[Finding]:
    """All checks, for the nearest project from ``start`` upwards; a failed one stops no other."""
    return [
        _lakeguard(),
        *_data_planes(_lake_of(start, env)),
        *_project(start, env, open_state),
    ]


def examine_service(start: Path, url: str) -> list[Finding]:
    """Checks of a machine whose commands call a service: its data planes, the definitions of a
    project if there is one, and access to the lake of the service."""
    return [_lakeguard(), *_data_planes(""), *_files(start), *_served(url)]


def _files(start: Path) -> Iterator[Finding]:
    with suppress(NoProject):
        yield _definitions(find_project(start))


def _served(url: str) -> Iterator[Finding]:
    from lakeguard_sdk.api.connection import without_password  # loads httpx

    try:
        client = connect(url)
        client.reader.policies()
    except LakeGuardError as error:
        yield Finding(name="Service", ok=False, detail=str(error), fix=error.next_step)
        return
    yield Finding(name="Service", ok=True, detail=f"{without_password(url)}, lake {client.lake}")
    yield _place(client.lake)


def _lakeguard() -> Finding:
    detail = f"{version('lakeguard')}, Python {python_version()}"
    return Finding(name="LakeGuard", ok=True, detail=detail)


def _lake_of(start: Path, env: str | None) -> str:
    with suppress(LakeGuardError):  # reported as the project's
        return load_settings(find_project(start), env).lake
    return ""


def _data_planes(lake: str) -> Iterator[Finding]:
    doctors = entry_points(group=DOCTORS)
    if not doctors:
        fix = "pip install 'openlaketx[local]'"
        yield Finding(name="Data plane", ok=False, detail="not installed", fix=fix)
    for entry in doctors:
        for name, ok, detail, fix in cast(Doctor, entry.load())(lake):
            yield Finding(name=name, ok=ok, detail=detail, fix=fix)


def _project(start: Path, env: str | None, open_state: OpenState) -> Iterator[Finding]:
    try:
        settings = load_settings(find_project(start), env)
    except LakeGuardError as error:
        yield Finding(name="Project", ok=False, detail=str(error), fix=error.next_step)
        return
    place = f"{settings.folder / SETTINGS_FILE}, environment {settings.env}"
    yield Finding(name="Project", ok=True, detail=place)
    yield _definitions(settings.folder)
    yield _database(settings, open_state)
    yield _lake(settings)
    yield from _channels(settings, open_state)


def _definitions(folder: Path) -> Finding:
    try:
        detail = counted(load_folder(folder))
        return Finding(name="Definitions", ok=True, detail=detail)
    except LakeGuardError as error:
        return Finding(name="Definitions", ok=False, detail=str(error), fix="lakeguard validate")


def _database(settings: Settings, open_state: OpenState) -> Finding:
    database = open_state(settings)
    try:
        health = examine_database(database)
        if settings.database.owner:
            require_bound(database)
    except StateLoginRefused as error:
        fix = f"correct env.{settings.env} in {SETTINGS_FILE}, or what its password names"
        return Finding(name="Database", ok=False, detail=str(error), fix=fix)
    except LakeGuardError as error:
        return Finding(name="Database", ok=False, detail=str(error), fix=error.next_step)
    finally:
        database.close()
    place = settings.database.file or database.place
    if not health.problem:
        return Finding(
            name="Database", ok=True, detail=f"{place}, schema {health.revision}, {health.known}"
        )
    return Finding(
        name="Database",
        ok=False,
        detail=f"{place}: {health.problem}",
        fix="lakeguard rebuild" if health.damaged else "lakeguard apply",
    )


def _lake(settings: Settings) -> Finding:
    if is_remote(settings.lake):
        settings.reach_lake()
    return _place(settings.lake)


def _place(lake: str) -> Finding:
    if is_remote(lake):
        return _store(lake)
    place = Path(local_path(lake))
    if not place.is_dir():
        return Finding(
            name="Lake", ok=False, detail=f"{place} does not exist", fix=f"mkdir -p {place}"
        )
    if not os.access(place, os.W_OK | os.X_OK):
        return Finding(
            name="Lake", ok=False, detail=f"{place} is not writable", fix=f"chmod u+rwx {place}"
        )
    return Finding(name="Lake", ok=True, detail=f"{place}, writable")


def _store(lake: str) -> Finding:
    """Whether the store can be written, and lets one of several conditional writers win."""
    try:
        problem = conditional_write_problem(lake)
    except (OSError, ValueError, StoreUnavailable) as error:
        problem = str(error)
    if problem is None:
        return Finding(name="Lake", ok=True, detail=f"{lake}, writable, conditional writes hold")
    fix = "edit [env.NAME.storage] in lakeguard.toml"
    return Finding(name="Lake", ok=False, detail=problem, fix=fix)


def _channels(settings: Settings, open_state: OpenState) -> Iterator[Finding]:
    """Health of each channel; none where the database is missing."""
    if not settings.alert_channels and not settings.event_channels:
        return
    database = open_state(settings)
    try:
        database.check()
        yield from _channel_findings(settings, database)
    except LakeGuardError:  # already reported as the database's
        return
    finally:
        database.close()


def _channel_findings(settings: Settings, database: Database) -> Iterator[Finding]:
    state = OrganisationState.of(database, settings.organisation, lambda: datetime.now(UTC))
    for topic, sender in senders_of(state, settings).items():
        for channel in sender.channels:
            yield _channel_finding(topic, examine_channel(sender, channel))


def _channel_finding(topic: Topic, health: ChannelHealth) -> Finding:
    title = "Channel of events" if topic is Topic.EVENT else "Channel"
    name = f"{title} {health.channel}"
    detail = f"{plural(health.waiting, topic)} waiting, {health.dead:,} given up"
    if not health.problem:
        return Finding(name=name, ok=True, detail=detail)
    tried = f"lakeguard {topic}s test {health.channel}"
    fix = f"lakeguard {topic}s send --again" if health.dead else tried
    return Finding(name=name, ok=False, detail=f"{detail}: {health.problem}", fix=fix)


# Whether an object store keeps what a lake needs: of several conditional writers, one wins.

_WRITERS = 8
_ROUNDS = 5
_FOLDER = "_lakeguard/.doctor"


def conditional_write_problem(lake: str) -> str | None:
    """Why tables in the store would lose commits, or None. Writes and removes a few objects."""
    storage = storage_for(lake)
    for _ in range(_ROUNDS):
        place = join(lake, _FOLDER, secrets.token_hex(8))
        try:
            problem = _raced(storage, place)
        finally:
            storage.remove(place, lake)
        if problem is not None:
            return f"{lake}: {problem}; a lake there would lose commits without an error"
    return None


def _raced(storage: Storage, place: str) -> str | None:
    won = _winners(lambda body: storage.create(place, body))
    if won != 1:
        return f"{won} of {_WRITERS} writers created the same object (If-None-Match)"
    mark = storage.mark(place)
    won = _winners(lambda body: storage.update(place, body, mark))
    if won != 1:
        return f"{won} of {_WRITERS} writers replaced the same state of an object (If-Match)"
    return None


def _winners(write: Callable[[bytes], bool]) -> int:
    bodies = [secrets.token_bytes(16) for _ in range(_WRITERS)]
    with ThreadPoolExecutor(_WRITERS) as pool:
        return sum(pool.map(write, bodies))
