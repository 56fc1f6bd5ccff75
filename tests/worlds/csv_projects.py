"""A project of CSV files: a bronze dataset that reads them, and silver ones built from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from lakeguard.registry.loading import load_folder
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.names import parse_address
from lakeguard_sdk.run import RunResult, Window
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.worker import create_worker

BRONZE, SILVER = "bronze.orders", "silver.orders"
COLUMNS = {"id": "long", "day": "date"}
JANUARY = Window(column="day", start="2026-01-01", end="2026-01-31")


@dataclass
class CsvProject:
    folder: Path
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self._write("lakeguard.toml", "[env.dev]\n")
        self._write(
            "definitions/sources/orders.yaml", "source: orders\nformat: csv\npath: in/*.csv\n"
        )

    def bronze(self, load: str, columns: Mapping[str, str] = COLUMNS) -> None:
        self._define(BRONZE, load, columns, "source: orders")

    def silver(self, load: str, sql: str, columns: Mapping[str, str] = COLUMNS) -> None:
        self._write("sql/orders.sql", sql)
        self._define(SILVER, load, columns, f"parents: [{BRONZE}]\nbuild: {{sql: sql/orders.sql}}")

    def apply(self) -> None:
        self.client = connect(self.folder)
        self.client.registry.apply(self.client.registry.plan(load_folder(self.folder)))

    def land(self, name: str, *lines: str) -> None:
        self._write(f"in/{name}.csv", "\n".join(lines) + "\n")

    def archive(self, name: str) -> None:
        (self.folder / "in" / f"{name}.csv").unlink()

    def submit(self, name: str = BRONZE, window: Window | None = None) -> str:
        return self.client.operations.submit(DatasetName(name), "tests", window=window)

    def work(self, task: str) -> RunResult:
        return create_worker(self.client.for_worker(), spark_options={}).run_task(task)

    def run(self, name: str = BRONZE, window: Window | None = None) -> RunResult:
        return self.work(self.submit(name, window))

    def rows(self, name: str = BRONZE, columns: str = "id") -> list[Any]:
        """The values of one column, or of several as tuples, sorted."""
        found = self.client.reader.resolve(parse_address(DatasetName(name)))
        live = live_files(open_table(found.location, found.commit))
        files = [f"{found.location}/{path}" for path in live]
        if not files:
            return []
        with duckdb.connect() as connection:
            told = connection.execute(
                f"SELECT {columns} FROM read_parquet($f, union_by_name = true) ORDER BY ALL",
                {"f": files},
            ).fetchall()
        return [row[0] if len(row) == 1 else row for row in told]

    def _define(self, name: str, load: str, columns: Mapping[str, str], origin: str) -> None:
        listed = "".join(f"  {column}: {{type: {kind}}}\n" for column, kind in columns.items())
        self._write(
            f"definitions/{name.replace('.', '/')}.yaml",
            f"dataset: {name}\nowner: tests\ndomain: shop\n{origin}\nload: {load}\n"
            f"columns:\n{listed}",
        )

    def _write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
