"""A project written as files, applied, and run by a worker of this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.model.run import RunResult, Window
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.worker import create_worker
from tests.support.projects.definition_folders import write_folder

SETTINGS: dict[str, str | bytes] = {"lakeguard.toml": "[env.dev]\n"}


def applied(folder: Path, files: dict[str, str | bytes]) -> Client:
    """The project of these files, its settings among them or the usual ones."""
    client = connect(write_folder(folder, {**SETTINGS, **files}))
    apply_again(client, folder)
    return client


def apply_again(client: Client, folder: Path) -> None:
    client.registry.apply(client.registry.plan(load_folder(folder)))


def submit(client: Client, name: str, window: Window | None = None) -> str:
    return client.operations.submit(DatasetName(name), "tests", window=window)


def work(client: Client, task: str) -> RunResult:
    return create_worker(client.for_worker(), spark_options={}).run_task(task)


def run(client: Client, name: str, window: Window | None = None) -> RunResult:
    return work(client, submit(client, name, window))


def published(client: Client, name: str, columns: str) -> list[Any]:
    """The values of one column, or of several as tuples, sorted."""
    found = client.reader.resolve(parse_address(DatasetName(name)))
    live = live_files(open_table(found.location, found.commit))
    files = [f"{found.location}/{path}" for path in live]
    if not files:
        return []
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT {columns} FROM read_parquet($f, union_by_name = true) ORDER BY ALL",
            {"f": files},
        ).fetchall()
    return [row[0] if len(row) == 1 else row for row in rows]
