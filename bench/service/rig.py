"""A project on PostgreSQL, and its service in a process of its own that asks for tokens."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from bench.many_datasets import many_definitions
from lakeguard.access.principal import Action
from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.plane import connect_embedded, open_state
from lakeguard.service_plane import manage_identity, open_service
from lakeguard.settings import load_settings
from lakeguard_sdk.client import Client
from lakeguard_sdk.model.definitions import Definitions
from tests.support.databases.databases import Server

DOMAIN = "shown"
"""Every other dataset is in it."""
_PATIENCE_SECONDS = 60.0
_NO_LIMITS = """
[env.dev.service]
requests_per_minute = 1_000_000
work_requests_per_minute = 1_000_000
"""
_ALL = (Action.READ, Action.RUN, Action.WORK)


@dataclass(frozen=True)
class Project:
    """A folder whose State is a schema of the server."""

    folder: Path
    schema: str

    def connect(self) -> Client:
        """Its ports in this process, without a service."""
        return connect_embedded(str(self.folder))

    def token(self, name: str, *namespaces: str) -> str:
        """For everything, or within namespaces for reading alone."""
        settings = load_settings(self.folder)
        database = open_state(settings)
        try:
            actions = (Action.READ,) if namespaces else _ALL
            return manage_identity(settings, database).create_token(name, actions, namespaces).text
        finally:
            database.close()


@dataclass(frozen=True)
class Served:
    """A service that runs."""

    url: str
    pid: int

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def make_project(server: Server, folder: Path, schema: str, limits: str = _NO_LIMITS) -> Project:
    """Without definitions."""
    folder.mkdir(parents=True)
    text = f'[env.dev]\ndatabase = "{server.url}"\nschema = "{schema}"\n'
    (folder / "lakeguard.toml").write_text(text + limits)
    return Project(folder, schema)


def two_domains(datasets: int) -> Definitions:
    """So that a grant on one of them shows half of the datasets."""
    made = many_definitions(datasets)
    chosen = tuple(
        each.model_copy(update={"domain": DOMAIN}) if number % 2 else each
        for number, each in enumerate(made.datasets)
    )
    return made.model_copy(update={"datasets": chosen})


@contextmanager
def served(project: Project) -> Iterator[Served]:
    """Facts are brought to the lake by nobody: that is measured elsewhere."""
    newborn = multiprocessing.get_context("spawn")
    here, there = newborn.Pipe(duplex=False)
    process = newborn.Process(target=_serve, args=(str(project.folder), there), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(_PATIENCE_SECONDS):
            raise SystemExit("the service did not start")
        assert process.pid is not None
        yield Served(here.recv(), process.pid)
    finally:
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGTERM)
        process.join(_PATIENCE_SECONDS)


def _serve(folder: str, told: Connection) -> None:
    service = open_service(folder, parse_place("127.0.0.1:0"), tokens=True)
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with service.client, serving(create_app(service), listen(service)) as listener:
        told.send(listener.url)
        stopped.wait()
