"""Delta tables that somebody else made, and their way into a project."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.run import RunResult
from tests.support.projects.definitions import rule
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import location_of, make_project


def foreign_numbers(folder: Path, *batches: Sequence[int | None]) -> str:
    """A table of one long column, a commit and a file for each batch; answers its location."""
    place = folder / "elsewhere" / "numbers"
    for batch in batches:
        write_deltalake(place, pa.table({"n": pa.array(batch, pa.int64())}), mode="append")
    return str(place)


def located_numbers(
    location: str, rules: Sequence[str] = (), load: LoadType = LoadType.APPEND
) -> Definitions:
    """The numbers dataset, whose table lies somewhere else."""
    definitions = numbers_definitions(load)
    given = {"location": location_of(location), "rules": tuple(map(rule, rules))}
    dataset = definitions.datasets[0].model_copy(update=given)
    return definitions.model_copy(update={"datasets": (dataset,)})


def foreign_project(
    folder: Path,
    *batches: Sequence[int | None],
    rules: Sequence[str] = (),
    load: LoadType = LoadType.APPEND,
) -> tuple[Client, str]:
    """A project that knows of a table elsewhere, which is not adopted yet."""
    location = foreign_numbers(folder, *batches)
    return make_project(folder / "lake", located_numbers(location, rules, load)), location


def adopt(client: Client, name: DatasetName = NUMBERS) -> RunResult:
    """As the command does it, once the dataset is registered."""
    worker = local_worker(client.for_worker(), spark_options={})
    return worker.run_adoption(client.operations.submit_adoption(name, "test"))


def fingerprint(location: str) -> dict[str, str]:
    """Every file of a folder, with the hash of its bytes."""
    root = Path(location)
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def numbers_in(location: str) -> list[int | None]:
    """What a direct reader sees."""
    found: list[int | None] = pa.table(DeltaTable(location).scan().read_all())["n"].to_pylist()
    return sorted(found, key=lambda n: (n is None, n))


def log_actions(location: str, version: int) -> list[dict[str, Any]]:
    text = Path(location, "_delta_log", f"{version:020d}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def forget_the_past(location: str) -> None:
    """A checkpoint, and no commit before it: as a table is whose log is cleaned up."""
    table = DeltaTable(location)
    table.create_checkpoint()
    for version in range(table.version()):
        Path(location, "_delta_log", f"{version:020d}.json").unlink()
