"""Published versions as pinned views in a session's catalogue."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from lakeguard_sdk.errors import (
    BuildFailed,
    LakeGuardError,
    NameTaken,
    PathsForbidden,
    SharedCatalogue,
)
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.model.run import InputPin
from lakeguard_sdk.storage.storage import readable_file
from lakeguard_sdk.types.schema import Column
from openlaketx.engine.locations import spark_path, spark_read_path
from openlaketx.engine.spark.errors import SPARK_ERRORS, reason
from openlaketx.engine.spark.runtime import runtime_of
from openlaketx.engine.spark.types import quoted_name, spark_type
from openlaketx.extract.frame_lineage import Reads
from openlaketx.extract.pinned_inputs import values_left_to_log
from openlaketx.notebook.pinned_frame import pin_of, version_files

_CATALOGUE = "spark_catalog"
_MARK = "lakeguard.dataset_id"
_PATHS_IN_SQL = "spark.sql.runSQLOnFiles"
_NOTHING: Mapping[str, str | None] = {}


def show(spark: SparkSession, found: Iterable[ResolvedDataset], reads: Reads) -> None:
    """Create a view for each dataset's version; foreign tables and views are not replaced. From
    then on, any of them may have been read.

    Views, because they are read-only. Refused on a shared catalogue: a pinned view would outlive
    the session and mislead other users. Errors are raised after all other views exist.
    """
    if runtime_of(spark).has_catalogue_of_others(spark):
        raise SharedCatalogue()
    if spark.conf.get(_PATHS_IN_SQL) != "true":
        raise PathsForbidden(setting=_PATHS_IN_SQL)
    delta = "DeltaCatalog" in str(spark.conf.get(f"spark.sql.catalog.{_CATALOGUE}", ""))
    problems: list[LakeGuardError] = []
    for each in found:
        try:
            _show(spark, each, reads, delta=delta)
        except LakeGuardError as error:
            problems.append(error)
        except SPARK_ERRORS as error:
            problems.append(_unreadable(each, reason(error)))
    if problems:
        first, *others = problems
        for other in others:
            first.add_note(str(other))
        raise first


def _show(spark: SparkSession, found: ResolvedDataset, reads: Reads, *, delta: bool) -> None:
    _make_database(spark, found.dataset.layer)
    name = f"{_CATALOGUE}.{found.dataset.layer}.{found.dataset.name}"
    if spark.catalog.tableExists(name) and not _is_ours(spark, name):
        raise NameTaken(name=found.dataset)
    pin = pin_of(found)
    files = version_files(pin)
    text = view_text(found, pin, files, delta=delta)
    reads.add(pin, files)
    reads.add_view(pin, text)
    spark.sql(
        f"CREATE OR REPLACE VIEW {name} TBLPROPERTIES ('{_MARK}' = '{found.dataset_id}',"
        f" 'lakeguard.version' = '{found.version}') AS {text}"
    )


def view_text(found: ResolvedDataset, pin: InputPin, files: list[str], *, delta: bool) -> str:
    """SELECT over exactly the version: through Delta if the session has it, else over its files."""
    columns = found.table_schema.columns
    if delta:
        place = quoted_name(spark_path(found.location))
        names = found.table_schema.names
        return f"{_select(columns, names)} FROM delta.{place} VERSION AS OF {found.commit}"
    if not files:
        return f"{_select(columns, ())} WHERE false"
    root = f"{found.location.rstrip('/')}/"
    log_values = values_left_to_log(pin, [file.removeprefix(root) for file in files])
    return " UNION ALL ".join(
        f"{_select(columns, _names_in(file, found), log_values.get(file.removeprefix(root), {}))}"
        f" FROM parquet.{_place(file)}"
        for file in files
    )


def _select(
    columns: Iterable[Column],
    held: Collection[str],
    log_values: Mapping[str, str | None] = _NOTHING,
) -> str:
    """With casts, because files do not carry every declared type. A column that is not in ``held``
    has its value from the log, else NULL."""
    return "SELECT " + ", ".join(
        f"CAST({quoted_name(column.name) if column.name in held else _literal(column, log_values)}"
        f" AS {spark_type(column.type)}) AS {quoted_name(column.name)}"
        for column in columns
    )


def _literal(column: Column, log_values: Mapping[str, str | None]) -> str:
    """In hexadecimal digits: settings of the session change the meaning of other texts."""
    text = log_values.get(column.name)
    return "NULL" if text is None else f"CAST(X'{text.encode().hex()}' AS STRING)"


def _names_in(file: str, found: ResolvedDataset) -> Collection[str]:
    """The columns in a file; files written before a column was added lack it."""
    try:
        names: list[str] = pq.read_metadata(readable_file(file)).schema.to_arrow_schema().names
    except (OSError, pa.ArrowException) as error:
        message = next(iter(str(error).splitlines()), type(error).__name__)
        raise _unreadable(found, message) from None
    return frozenset(names)


def _place(file: str) -> str:
    return quoted_name(spark_read_path(file))


def _unreadable(found: ResolvedDataset, why: str) -> BuildFailed:
    return BuildFailed(
        dataset=found.dataset, reason=f"{found.dataset}@v{found.version} cannot be read: {why}"
    )


def _make_database(spark: SparkSession, layer: str) -> None:
    """Located in an empty folder outside the lake, so tables saved there by mistake do no harm."""
    if not spark.catalog.databaseExists(f"{_CATALOGUE}.{layer}"):
        place = tempfile.mkdtemp(prefix="lakeguard-")
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {_CATALOGUE}.{layer} LOCATION '{place}'")


def _is_ours(spark: SparkSession, name: str) -> bool:
    if spark.catalog.getTable(name).tableType != "VIEW":
        return False
    return _MARK in _properties(spark, name)


def _properties(spark: SparkSession, name: str) -> Iterator[str]:
    return (row[0] for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect())
