"""The rows of a published version as a DuckDB relation over the files of its commit."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.model.delta_log import written_whole
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.storage.storage import join
from openlaketx.deliver.published_version import failed
from openlaketx.deliver.text_formats import empty
from openlaketx.engine.delta_table import LiveFile, left_to_log, live_files, open_table
from openlaketx.engine.duckdb_reader import DuckdbReader, file_list
from openlaketx.engine.file_check import check_files, check_shown
from openlaketx.measure.duckdb_columns import rows_with_log_columns

Parameters = dict[str, list[str]]
_HOLDING = "SELECT count(DISTINCT file_name) FROM parquet_schema($files) WHERE name = $column"


def shown_files(shown: ResolvedDataset, reader: DuckdbReader) -> list[LiveFile]:
    """Every file of the commit in a fixed order, with its log entry; each is compared with its
    record."""
    table = open_table(shown.location, shown.commit)
    live = live_files(table)
    check_files(shown.dataset, shown.table_id, shown.location, live.keys())
    check_shown(shown.dataset, shown.table_id, shown.location, shown.commit, live.keys())
    files = [live[path] for path in sorted(live)]
    whole = [file for file in files if written_whole(file.path)]
    for column in table.metadata().partition_columns if whole else ():
        _check_column(shown, reader, whole, column)
    return files


def row_count(files: Sequence[LiveFile]) -> int:
    return sum(file.rows or 0 for file in files)


def rows_relation(shown: ResolvedDataset, files: Sequence[LiveFile]) -> tuple[str, Parameters]:
    """All columns of the version in their types; columns that a file lacks come from the Delta log,
    else they are NULL."""
    paths = [file.path for file in files]
    if not all(map(written_whole, paths)):
        values = left_to_log(open_table(shown.location, shown.commit), paths)
        return rows_with_log_columns(shown.location, shown.table_schema, paths, values)
    columns = ", ".join(empty(column) for column in shown.table_schema.columns)
    typed = f"SELECT {columns} WHERE FALSE"
    if not files:
        return f"({typed})", {}
    read = "SELECT * FROM read_parquet($files, hive_partitioning = false, union_by_name = true)"
    return f"({typed} UNION ALL BY NAME {read})", {"files": _locations(shown, files)}


def check_rows(shown: ResolvedDataset, found: int, expected: int) -> None:
    if found != expected:
        raise failed(shown, f"the files hold {found} rows instead of {expected}")


def _check_column(
    shown: ResolvedDataset, reader: DuckdbReader, files: Sequence[LiveFile], column: str
) -> None:
    """Refuses our own files without a partition column: it would be read as NULL."""
    parameters = {"files": _locations(shown, files), "column": column}
    (holding,) = reader.row(_HOLDING, parameters)
    if holding != len(files):
        lacking = len(files) - int(holding)
        raise failed(shown, f"{lacking} of its files lack the partition column {column}")


def _locations(shown: ResolvedDataset, files: Sequence[LiveFile]) -> list[str]:
    return file_list([join(shown.location, file.path) for file in files])
