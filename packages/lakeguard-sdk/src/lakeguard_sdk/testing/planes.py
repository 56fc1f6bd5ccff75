"""What a throw-away lake needs of the planes that are installed, found by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, cast

from lakeguard_sdk.client import Client
from lakeguard_sdk.definition import Definitions
from lakeguard_sdk.errors import UnknownPlane, WorkerMissing
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.run import RunResult

FOLDERS = "lakeguard_sdk.folders"
BENCHES = "lakeguard_sdk.benches"


class Bench(Protocol):
    """What a test does beside runs: on the one Spark of the process, or without it."""

    def spark(self) -> Any: ...
    def publish(self, name: str, frame: Any) -> RunResult: ...
    def rows(self, found: ResolvedDataset) -> list[dict[str, Any]]:
        """In one order, whatever the files; without Spark."""


def read_folder(folder: Path) -> Definitions:
    """The definitions of a project; ``InvalidDefinitions`` with every mistake if there is one."""
    found = _load(FOLDERS, "embedded")
    if found is None:
        raise UnknownPlane(url=str(folder))
    return cast(Callable[[Path], Definitions], found)(folder)


def local_bench(client: Client, spark_options: Mapping[str, str]) -> Bench:
    """The bench of the data plane that is installed here."""
    found = _load(BENCHES, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast(Callable[..., Bench], found)(client, spark_options=dict(spark_options))


def _load(group: str, name: str) -> object | None:
    found = next(iter(entry_points(group=group, name=name)), None)
    return None if found is None else found.load()
