"""A governed table with versions made by hand, and the reader that tells which is published."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.core.enums import (
    Layer,
    LoadType,
    RunStatus,
    TargetFormat,
)
from lakeguard_sdk.errors import UnknownVersion
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.read_models import ResolvedDataset, RunRow, VersionRow
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.storage.file_records import FileRecord
from lakeguard_sdk.types.schema import TableSchema
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
)
from openlaketx.deliver import deliver_published
from openlaketx.deliver.file_sets import FileSet
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.publish import commit_publish
from tests.property.measure.staging import arrow_type
from tests.support.lakes.plans import DATASET, parquet, plan
from tests.unit.openlaketx.governed import DATASET_ID, Governed, create_governed

LATE = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


@dataclass
class PublishedTable:
    """A governed table, versions by hand, and the reader that tells which one is published."""

    lake: Path
    declared: TableSchema
    commits: dict[int, int] = field(default_factory=dict)
    schemas: dict[int, TableSchema] = field(default_factory=dict)
    published: int | None = None

    def __post_init__(self) -> None:
        location = str(self.lake / "bronze" / "orders")
        self.table = Governed(location, create_governed(location, self.declared))

    @property
    def files(self) -> Path:
        return self.lake / "bronze" / "orders.files"

    def publish(self, *batches: list[dict[str, Any]], load: LoadType = LoadType.FULL) -> int:
        version = len(self.commits) + 1
        staged = [self._stage(version, n, rows) for n, rows in enumerate(batches)]
        intent = self.table.intent(*staged, load=load, table_schema=self.declared)
        self.commits[version] = commit_publish(intent)
        self.schemas[version] = self.declared
        self.table.published(self.commits[version])
        self.published = version
        return version

    def _stage(self, version: int, number: int, rows: list[dict[str, Any]]) -> StagedFile:
        """A file has the columns that its first row names: one may be older than a column."""
        path = f"runs/run_{version}/part-{number}.parquet"
        file = Path(self.table.location, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        named = rows[0] if rows else self.declared.names
        held = [column for column in self.declared.columns if column.name in named]
        kinds = pa.schema([(c.name, _arrow(parse_type(c.type))) for c in held])
        pq.write_table(pa.Table.from_pylist(rows, kinds), file)
        facts = file.stat()
        return StagedFile(
            path=path,
            size=facts.st_size,
            rows=len(rows),
            modified_ms=facts.st_mtime_ns // 1_000_000,
            stats=f'{{"numRecords":{len(rows)}}}',
        )

    def plan(self, form: TargetFormat, **changed: Any) -> RunPlan:
        return plan(self.lake, parquet(), self.declared, format=form, **changed)

    def deliver(self, form: TargetFormat, **changed: Any) -> Any:
        """What a run's last step does."""
        return deliver_published(self.plan(form, **changed), cast(Reader, self))

    def manifest(self) -> FileSet:
        found = FileSet.from_json((self.files / "manifest.json").read_bytes())
        for file in found.files:
            content = (self.files / file.path).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
        return found

    def file_records(self, table_id: str, paths: Sequence[str]) -> Sequence[FileRecord]:
        """Every file counts as published as it is; what is missing has no bytes."""
        places = {path: Path(self.table.location, path) for path in paths}
        sizes = {
            path: place.stat().st_size if place.exists() else 0 for path, place in places.items()
        }
        return [FileRecord(path=path, size=size) for path, size in sizes.items()]

    def published_files(self, table_id: str, commit: int) -> Set[str]:
        """What the log says."""
        return set(live_files(open_table(self.table.location, commit)))

    def resolve(self, address: Address) -> ResolvedDataset:
        if self.published is None:
            raise UnknownVersion(dataset=address.dataset, version=0)
        return ResolvedDataset(
            dataset=address.dataset,
            dataset_id=DATASET_ID,
            version=self.published,
            location=self.table.location,
            table_id=self.table.table_id,
            commit=self.commits[self.published],
            table_schema=self.schemas[self.published],
        )

    def versions(self, name: DatasetName) -> Sequence[VersionRow]:
        return [
            VersionRow(
                dataset_id=DATASET_ID, version=version, snapshot_ref="", schema_hash="",
                row_count=0, promoted_at=LATE, promoted_by="tests", table_rows=0,
                run_id=f"run_{version}", decision_id=f"dec_{version}",
                published=version == self.published, inputs=(),
            )
            for version in self.commits
        ]  # fmt: skip

    def run(self, run_id: str) -> RunRow:
        return RunRow(
            run_id=run_id, dataset_id=DATASET_ID, dataset=DATASET, layer=Layer.BRONZE,
            status=RunStatus.SUCCESS, start_time=LATE, end_time=LATE, error_message=None,
            error_code=None, triggered_by="tests", task_id="task_1", attempt=1,
            decision_id=run_id.replace("run", "dec"), version=int(run_id.removeprefix("run_")),
        )  # fmt: skip


def _arrow(kind: ColumnType) -> pa.DataType:
    match kind:
        case StructOf(fields=fields):
            return pa.struct([(name, _arrow(part)) for name, part in fields])
        case ArrayOf(element=element):
            return pa.list_(_arrow(element))
        case MapOf(key=key, value=value):
            return pa.map_(_arrow(key), _arrow(value))
        case _:
            return arrow_type(kind)
