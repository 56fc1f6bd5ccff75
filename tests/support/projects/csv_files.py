"""A project of CSV files: a bronze dataset that reads them, and silver ones built from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeguard_sdk import Client
from lakeguard_sdk.model.run import RunResult, Window
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.folders import (
    applied,
    published,
    run,
    submit,
    work,
)

BRONZE, SILVER = "bronze.orders", "silver.orders"
COLUMNS = {"id": "long", "day": "date"}
JANUARY = Window(column="day", start="2026-01-01", end="2026-01-31")


@dataclass
class CsvProject:
    folder: Path
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self._write(
            "definitions/sources/orders.yaml", "source: orders\nformat: csv\npath: in/*.csv\n"
        )

    def bronze(self, load: str, columns: Mapping[str, str] = COLUMNS) -> None:
        self._define(BRONZE, load, columns, "source: orders")

    def silver(self, load: str, sql: str, columns: Mapping[str, str] = COLUMNS) -> None:
        self._write("sql/orders.sql", sql)
        self._define(SILVER, load, columns, f"parents: [{BRONZE}]\nbuild: {{sql: sql/orders.sql}}")

    def apply(self) -> None:
        self.client = applied(self.folder, {})

    def land(self, name: str, *lines: str) -> None:
        self._write(f"in/{name}.csv", "\n".join(lines) + "\n")

    def archive(self, name: str) -> None:
        (self.folder / "in" / f"{name}.csv").unlink()

    def submit(self, name: str = BRONZE, window: Window | None = None) -> str:
        return submit(self.client, name, window)

    def work(self, task: str) -> RunResult:
        return work(self.client, task)

    def run(self, name: str = BRONZE, window: Window | None = None) -> RunResult:
        return run(self.client, name, window)

    def rows(self, name: str = BRONZE, columns: str = "id") -> list[Any]:
        return published(self.client, name, columns)

    def _define(self, name: str, load: str, columns: Mapping[str, str], origin: str) -> None:
        listed = "".join(f"  {column}: {{type: {kind}}}\n" for column, kind in columns.items())
        self._write(
            f"definitions/{name.replace('.', '/')}.yaml",
            f"dataset: {name}\nowner: tests\ndomain: shop\n{origin}\nload: {load}\n"
            f"columns:\n{listed}",
        )

    def _write(self, name: str, text: str) -> None:
        write_folder(self.folder, {name: text})
