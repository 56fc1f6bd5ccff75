"""A governed table made by hand, with files staged by pyarrow and intents as a plane gives them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CommitKind, LoadType, MoveKind
from lakeguard_sdk.model.delta_log import PUBLISH_APP, TABLE_PROPERTIES, CommitAuthor
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import delta_schema, live_files

DATASET = DatasetName("silver.numbers")
DATASET_ID = "ds_1"
NUMBERS = TableSchema(columns=(Column(name="n", type="long"), Column(name="s", type="string")))


def create_governed(
    location: str,
    schema: TableSchema = NUMBERS,
    properties: dict[str, str] | None = None,
    partition_by: tuple[str, ...] = (),
) -> str:
    """An empty governed table, as a control plane creates it; answers its id."""
    author = CommitAuthor(dataset_id=DATASET_ID, kind=CommitKind.CREATE)
    DeltaTable.create(
        location,
        delta_schema(schema),
        partition_by=list(partition_by),
        configuration={**TABLE_PROPERTIES, **(properties or {})},
        commit_properties=CommitProperties(
            custom_metadata=author.custom_metadata(),
            app_transactions=[Transaction(PUBLISH_APP, 0)],
        ),
    )
    return str(DeltaTable(location).metadata().id)


@dataclass
class Governed:
    """The table at one place, its last number and the commit that a run would start from."""

    location: str
    table_id: str
    seq: int = 0
    base: int = 0

    @classmethod
    def at(cls, folder: Path, properties: dict[str, str] | None = None) -> Governed:
        location = str(folder / "silver" / "numbers")
        return cls(location, create_governed(location, properties=properties))

    def stage(self, path: str, numbers: list[int]) -> StagedFile:
        """A whole, well described file under the table's root."""
        file = Path(self.location) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        texts = [str(number) for number in numbers]
        columns = {"n": pa.array(numbers, pa.int64()), "s": pa.array(texts, pa.string())}
        pq.write_table(pa.table(columns), file)
        stat = file.stat()
        return StagedFile(
            path=path,
            size=stat.st_size,
            rows=len(numbers),
            modified_ms=stat.st_mtime_ns // 1_000_000,
            stats=f'{{"numRecords":{len(numbers)}}}',
        )

    def intent(self, *adds: StagedFile, load: LoadType = LoadType.APPEND, **changed: Any) -> Intent:
        """The next move on this table; a full load removes what is live at the base."""
        removes = self.files(self.base) if load is LoadType.FULL else ()
        fields = {
            "intent_id": f"int_{self.seq + 1}",
            "kind": MoveKind.PUBLISH,
            "dataset": DATASET,
            "dataset_id": DATASET_ID,
            "run_id": f"run_{self.seq + 1}",
            "decision_id": f"dec_{self.seq + 1}",
            "seq": self.seq + 1,
            "location": self.location,
            "table_id": self.table_id,
            "base_commit": self.base,
            "load": load,
            "table_schema": NUMBERS,
            "adds": adds,
            "removes": removes,
        }
        return Intent(**{**fields, **changed})

    def published(self, commit: int) -> None:
        """What completion does: the next run starts from here."""
        self.seq += 1
        self.base = commit

    def handle(self) -> DeltaTable:
        return DeltaTable(self.location)

    def files(self, version: int | None = None) -> tuple[str, ...]:
        return tuple(sorted(live_files(DeltaTable(self.location, version=version))))

    def numbers(self) -> Counter[int]:
        """What a reader of the table sees now."""
        found: Counter[int] = Counter()
        for path in self.files():
            found.update(pq.read_table(Path(self.location) / path)["n"].to_pylist())
        return found

    def rows_by_scan(self) -> list[int]:
        """The same through deltalake's own reader."""
        table = pa.table(self.handle().scan().read_all())
        return sorted(table["n"].to_pylist())

    def write_foreign(self, numbers: list[int]) -> None:
        """Somebody appends without asking."""
        from deltalake import write_deltalake

        texts = [str(number) for number in numbers]
        columns = {"n": pa.array(numbers, pa.int64()), "s": pa.array(texts, pa.string())}
        write_deltalake(self.location, pa.table(columns), mode="append")

    def fence(self, seq: int) -> None:
        """The empty commit that ends a dead run."""
        author = CommitAuthor(dataset_id=DATASET_ID, kind=CommitKind.FENCE, intent_id=f"int_{seq}")
        self.handle().create_write_transaction(
            [],
            "append",
            delta_schema(NUMBERS),
            commit_properties=CommitProperties(
                custom_metadata=author.custom_metadata(),
                app_transactions=[Transaction(PUBLISH_APP, seq)],
                max_commit_retries=0,
            ),
        )
