"""A real S3 server for tests: versitygw over a folder, on a free port of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakeguard_sdk.storage.storage import register_store
from lakeguard_sdk.storage.store_options import StoreOptions
from setup.s3_server import server_program
from tests.support.projects import projects

ACCESS_KEY = "lakeguard-tests"
SECRET_KEY = "not-a-secret-of-anybody"
_START_SECONDS = 20.0


@dataclass(frozen=True)
class Given:
    """A secret of a test."""

    value: str

    def resolve(self) -> str:
        return self.value


class StorePath:
    """A location that grows by ``/`` like a path."""

    def __init__(self, location: str) -> None:
        self._location = location

    def __truediv__(self, name: str) -> StorePath:
        return StorePath(f"{self._location}/{name}")

    def __str__(self) -> str:
        return self._location

    __repr__ = __str__


@dataclass(frozen=True)
class S3Server:
    endpoint: str
    folder: Path

    @property
    def options(self) -> StoreOptions:
        return StoreOptions(self.endpoint, "us-east-1", Given(ACCESS_KEY), Given(SECRET_KEY))

    def new_bucket(self, name: str) -> StorePath:
        (self.folder / name).mkdir()
        location = f"s3://{name}"
        register_store(location, self.options)
        return StorePath(location)

    @contextmanager
    def lakes_in(self, store: StorePath) -> Iterator[None]:
        """Projects made meanwhile have their lake below this location, one each."""
        with projects.settings_added(self.settings_of(store)):
            yield

    @contextmanager
    def lakes_as_folders(self, store: StorePath) -> Iterator[Path]:
        """The folder where this server keeps the objects below a location. Projects made there have
        their lakes at the location; what a test sees in the folder is what the store holds."""
        folder = self.folder / str(store).removeprefix("s3://")
        folder.mkdir(parents=True)
        with projects.lakes_served(folder, str(store), self.settings_of):
            yield folder

    def settings_of(self, store: StorePath | str) -> str:
        """Of an environment; the keys are in variables of this process."""
        os.environ["TEST_S3_ACCESS_KEY"], os.environ["TEST_S3_SECRET_KEY"] = ACCESS_KEY, SECRET_KEY
        return (
            f'lake = "{store}"\n'
            f'[env.dev.storage]\nendpoint = "{self.endpoint}"\nregion = "us-east-1"\n'
            'access_key = "env:TEST_S3_ACCESS_KEY"\nsecret_key = "env:TEST_S3_SECRET_KEY"\n'
        )


@contextmanager
def running_server(
    folder: Path, port: int = 0, *, access_log: Path | None = None
) -> Iterator[S3Server]:
    buckets = folder / "buckets"
    buckets.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    command = [str(server_program()), "--port", f"127.0.0.1:{port}", "--quiet", "posix"]
    command += ["--nometa"] if os.environ.get("S3_WITHOUT_ATTRIBUTES") else []
    command[1:1] = ["--access-log", str(access_log.absolute())] if access_log else []
    keys = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, str(buckets)], env=os.environ | keys, stdout=log, stderr=log
        )
    try:
        wait_for(port, process)
        yield S3Server(f"http://127.0.0.1:{port}", buckets)
    finally:
        process.terminate()
        process.wait(10)


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = _START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the server did not start")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
