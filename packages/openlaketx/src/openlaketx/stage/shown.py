"""A file that a table shows already, as its log and its own footer describe it."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.commits import CommittedFile
from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.evidence import StagedFile
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.storage import Storage, join, local_path
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema

_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


def shown_file(file: CommittedFile, plan: RunPlan, storage: Storage) -> StagedFile:
    """The file without its hash; ``StagingFailed`` where it is not what its table says."""
    place = join(plan.location, file.path)
    try:
        footer = pq.read_metadata(local_path(place))
        problem = _problem(footer, file, plan.table_schema)
    except (pa.ArrowException, OSError, UnsupportedColumn) as error:
        problem = next(iter(str(error).splitlines()), type(error).__name__)
    if problem is not None:
        raise StagingFailed(dataset=plan.dataset, reason=f"{file.path}: {problem}")
    facts = storage.facts(place)
    return StagedFile(
        path=file.path,
        size=facts.size,
        rows=footer.num_rows,
        modified_ms=facts.modified_ms,
        stats=file.stats,
        partition=file.partition,
    )


def _problem(footer: Any, file: CommittedFile, schema: TableSchema) -> str | None:
    """Columns that it has are of the table's types; others are NULL, or in the log."""
    if set(_OLD_CALENDAR) & set(footer.metadata or {}):
        return "it counts its days by the calendar that ended in 1582; rewrite it"
    told = json.loads(file.stats)["numRecords"]
    if told != footer.num_rows:
        return f"it has {footer.num_rows} rows, and {told} by the table's log"
    for column in table_schema(footer).columns:
        wanted = schema.type_of(column.name)
        if wanted not in (None, column.type) and column.name not in file.partition:
            return f"column {column.name} is {column.type}, and {wanted} by the table's log"
    return None
