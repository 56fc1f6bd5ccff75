"""Checks of definitions that depend on the settings: the State database, secret stores, and folders
of sources.

Addresses of databases are compared as text only. Two addresses may still lead to the same
database, so the writer also checks the database itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlalchemy import URL

from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.errors import SecretStoreMissing, SourceOutsideRoots, StateDatabaseShared
from lakeguard_sdk.model.definitions import Definitions, FromSource, TargetDefinition
from lakeguard_sdk.security.secret_references import STORE
from lakeguard_sdk.storage.source_roots import is_below_roots

DEFAULT_PORT = 5432
_HERE = frozenset({"", "localhost", "127.0.0.1", "::1"})

Place = tuple[str, int, str]
"""Host, port and database; all names and sockets of this machine are one host."""


def require_apart(targets: Iterable[TargetDefinition], state: URL) -> None:
    """Raise ``StateDatabaseShared`` for the first target at the State's address."""
    if state.get_backend_name() != "postgresql":
        return
    options = {key: str(value) for key, value in state.query.items()}
    state_place = place_of(state.host or options.get("host", ""), state.port, state.database or "")
    for target in targets:
        if target.format is TargetFormat.POSTGRESQL and _place(target.url) == state_place:
            raise StateDatabaseShared(target=target.target)


def place_of(host: str, port: int | None, database: str) -> Place:
    here = host.lower().rstrip(".") in _HERE or host.startswith("/")
    return "" if here else host.lower().rstrip("."), port or DEFAULT_PORT, database


def _place(url: str) -> Place:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    host = parts.hostname or options.get("host", "")
    return place_of(host, parts.port, unquote(parts.path.removeprefix("/")))


# ``secret://NAME`` needs a command in the settings.


def require_store(definitions: Definitions, command: Sequence[str]) -> None:
    """Raise ``SecretStoreMissing`` for the first reference that nothing could resolve."""
    if command:
        return
    for owner, name, reference in _references(definitions):
        if reference.startswith(STORE):
            raise SecretStoreMissing(owner=owner, name=name, reference=reference)


def _references(definitions: Definitions) -> Iterator[tuple[str, str, str]]:
    for source in definitions.sources:
        for name, reference in source.secrets.items():
            yield f"source {source.source}", name, reference
    for target in definitions.targets:
        for name, reference in target.secrets.items():
            yield f"target {target.target}", name, reference
    for job in definitions.jobs:
        for name, reference in job.details.items():
            yield f"job {job.job}", name, reference


# Which files sources may read through a service.


def require_source_roots(definitions: Definitions, lake: str, roots: Sequence[str]) -> None:
    """Raise ``SourceOutsideRoots`` for the first path that is not below a root: of a source, or of
    the object that a dataset reads in one. What a job waits for is below the lake anyway."""
    for owner, path in _paths(definitions):
        if path and not is_below_roots(path, lake, roots):
            raise SourceOutsideRoots(owner=owner, path=path)


def _paths(definitions: Definitions) -> Iterator[tuple[str, str]]:
    for source in definitions.sources:
        yield f"source {source.source}", source.path
    for dataset in definitions.datasets:
        build = dataset.build
        if isinstance(build, FromSource) and ".." in build.object.split("/"):
            yield f"dataset {dataset.dataset}", f"/{build.object}"  # leads out of its source
