"""Published versions under their own names in a session's catalogue, as views that are pinned."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from lakeguard_sdk.program_errors import NameTaken, PathsForbidden, SharedCatalogue
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.schema import Column
from lakeguard_sdk.storage import local_path
from openlaketx.engine.places import spark_read_path
from openlaketx.engine.spark_types import quoted_name, spark_type
from openlaketx.notebook.pinned import pin_of, version_files

_CATALOGUE = "spark_catalog"
_MARK = "lakeguard.dataset_id"
_PATHS_IN_SQL = "spark.sql.runSQLOnFiles"


def show(spark: SparkSession, found: Iterable[ResolvedDataset]) -> None:
    """Each dataset is a view of its version; nothing that is not ours is replaced.

    A view, because nobody can write to it. Refused where the catalogue is a metastore: there a
    pinned view would outlive the session, and others would take it for the dataset.
    """
    if spark.conf.get("spark.sql.catalogImplementation") == "hive":
        raise SharedCatalogue()
    if spark.conf.get(_PATHS_IN_SQL) != "true":
        raise PathsForbidden(setting=_PATHS_IN_SQL)
    delta = "DeltaCatalog" in str(spark.conf.get(f"spark.sql.catalog.{_CATALOGUE}", ""))
    for each in found:
        _make_database(spark, each.dataset.layer)
        name = f"{_CATALOGUE}.{each.dataset.layer}.{each.dataset.name}"
        if spark.catalog.tableExists(name) and not _is_ours(spark, name):
            raise NameTaken(name=each.dataset)
        spark.sql(
            f"CREATE OR REPLACE VIEW {name} TBLPROPERTIES ('{_MARK}' = '{each.dataset_id}',"
            f" 'lakeguard.version' = '{each.version}') AS {view_text(each, delta=delta)}"
        )


def view_text(found: ResolvedDataset, *, delta: bool) -> str:
    """A query of exactly the version: through Delta where the session has it, else by its files."""
    columns = found.table_schema.columns
    if delta:
        place = quoted_name(local_path(found.location))
        return f"{_select(columns)} FROM delta.{place} VERSION AS OF {found.commit}"
    files = version_files(pin_of(found))
    if not files:
        nothing = ", ".join(f"CAST(NULL AS {_typed(column)}" for column in columns)
        return f"SELECT {nothing} WHERE false"
    paths = (quoted_name(spark_read_path(file)) for file in files)
    return " UNION ALL ".join(f"{_select(columns)} FROM parquet.{path}" for path in paths)


def _select(columns: Iterable[Column]) -> str:
    """Typed, because files alone do not tell every declared type."""
    return "SELECT " + ", ".join(f"CAST({quoted_name(c.name)} AS {_typed(c)}" for c in columns)


def _typed(column: Column) -> str:
    return f"{spark_type(column.type)}) AS {quoted_name(column.name)}"


def _make_database(spark: SparkSession, layer: str) -> None:
    """In a folder of nobody's: what is saved there by mistake is not in the lake."""
    if not spark.catalog.databaseExists(f"{_CATALOGUE}.{layer}"):
        place = tempfile.mkdtemp(prefix="lakeguard-")
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {_CATALOGUE}.{layer} LOCATION '{place}'")


def _is_ours(spark: SparkSession, name: str) -> bool:
    if spark.catalog.getTable(name).tableType != "VIEW":
        return False
    return _MARK in _properties(spark, name)


def _properties(spark: SparkSession, name: str) -> Iterator[str]:
    return (row[0] for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect())
