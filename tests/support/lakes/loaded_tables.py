"""A dataset under the real plane that loads batches of rows, and every reader's view of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.client import WorkerClient
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    RuleDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.evidence import Changes, Evidence
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import (
    RunPlan,
    RunResult,
    RunTicket,
    Window,
    WorkerIdentity,
)
from lakeguard_sdk.ports import Runs
from lakeguard_sdk.storage.storage import is_remote, join, storage_for
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.engine.duckdb_files import StoreFiles
from openlaketx.engine.locations import duckdb_path, spark_path
from openlaketx.worker import create_worker
from tests.support.projects.projects import make_project

TABLE = DatasetName("bronze.things")
ARROW = {
    "string": pa.string(),
    "long": pa.int64(),
    "integer": pa.int32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
Row = dict[str, Any]


class HeardRuns:
    """A run port, and what the last run was told and told over it."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.plan: RunPlan | None = None
        self.evidence: Evidence | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def open_run(self, task_id: str, worker: WorkerIdentity) -> RunPlan | RunResult:
        opened = self._runs.open_run(task_id, worker)
        self.plan = opened if isinstance(opened, RunPlan) else None
        self.evidence = None
        return opened

    def submit_evidence(self, ticket: RunTicket, evidence: Evidence) -> Decision:
        self.evidence = evidence
        return self._runs.submit_evidence(ticket, evidence)


@dataclass
class LoadedTable:
    """Batches land as Parquet files of a source; a run loads what is new of them."""

    folder: Path
    load: Load
    columns: dict[str, str]
    rules: tuple[RuleDefinition, ...] = ()
    client: Client = field(init=False)
    heard: HeardRuns = field(init=False)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.client = make_project(self.folder, self.definitions())
        self.heard = HeardRuns(self.client.runs)
        (self.folder / "in").mkdir()

    def definitions(self) -> Definitions:
        source = SourceDefinition(source="things", format=SourceFormat.PARQUET, path="in/*.parquet")
        dataset = DatasetDefinition(
            dataset=TABLE,
            domain="tests",
            owner="tests",
            build=FromSource(source="things"),
            load=self.load,
            columns=tuple(
                ColumnDefinition(name=name, type=data_type)
                for name, data_type in self.columns.items()
            ),
            rules=self.rules,
        )
        return Definitions(sources=(source,), datasets=(dataset,))

    def redefine(self, load: Load | None = None, columns: dict[str, str] | None = None) -> None:
        self.load, self.columns = load or self.load, columns or self.columns
        self.client.registry.apply(self.client.registry.plan(self.definitions()))

    def land(self, rows: Sequence[Row], *, alone: bool = False) -> str:
        """One more file, by name; alone, in the place of every file there was."""
        extra = {self.load.operation: "string"} if self.load.operation else {}
        types = {**extra, **self.columns}
        schema = pa.schema([(name, ARROW[types[name]]) for name in types])
        if alone:
            self.clear()
        name = f"{next(self._numbers):04d}.parquet"
        pq.write_table(pa.Table.from_pylist(list(rows), schema), self.folder / "in" / name)
        if is_remote(self.client.lake):
            place = join(self.client.lake, "in", name)
            storage_for(place).upload(self.folder / "in" / name, place)
        return name

    def clear(self) -> None:
        """Files that have been read may go; the table keeps their rows."""
        for file in (self.folder / "in").glob("*.parquet"):
            file.unlink()
            if is_remote(lake := self.client.lake):
                storage_for(lake).remove(join(lake, "in", file.name), lake)

    def run(self, window: Window | None = None) -> RunResult:
        task = self.client.operations.submit(TABLE, "tests", window=window)
        worker = WorkerClient(self.client.reader, self.heard, self.client.lake)
        return create_worker(worker, spark_options={}).run_task(task)

    @property
    def changes(self) -> Changes | None:
        """What the last run told of its batch."""
        return None if self.heard.evidence is None else self.heard.evidence.changes

    def files(self) -> set[str]:
        location, commit = self.at()
        return set(live_files(open_table(location, commit)))

    def at(self, version: int | None = None) -> tuple[str, int]:
        address = TABLE if version is None else f"{TABLE}@v{version}"
        found = self.client.reader.resolve(parse_address(address))
        return found.location, found.commit

    def by_deltalake(self, version: int | None = None) -> list[Row]:
        location, commit = self.at(version)
        return pa.table(open_table(location, commit).scan().read_all()).to_pylist()

    def by_duckdb(self, version: int | None = None) -> list[Row]:
        location, commit = self.at(version)
        live = live_files(open_table(location, commit))
        files = [duckdb_path(join(location, path)) for path in live]
        if not files:
            return []
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register_filesystem(StoreFiles())
            found = connection.sql(
                "SELECT * FROM read_parquet($f, union_by_name = true, hive_partitioning = false)",
                params={"f": files},
            )
            return pa.table(found.to_arrow_table()).to_pylist()

    def by_spark(self, spark: SparkSession, version: int | None = None) -> list[Row]:
        """Through delta-spark where the session has it."""
        location, commit = self.at(version)
        frame = spark.read.format("delta").option("versionAsOf", commit).load(spark_path(location))
        return pa.table(frame.toArrow()).to_pylist()
