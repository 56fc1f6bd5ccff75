"""Rows of files that leave columns to the table's log, as a relation of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeguard_sdk.storage.storage import join, local_path
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.delta_table import Values
from openlaketx.engine.duckdb_reader import file_list
from openlaketx.measure.sql.condition_sql import quoted, sql_type

_READ = "read_parquet({files}, hive_partitioning = false, union_by_name = true{more})"


def rows_with_log_columns(
    location: str, schema: TableSchema, paths: Sequence[str], lacking: Values, prefix: str = ""
) -> tuple[str, dict[str, Any]]:
    """Every column of the schema: as the file has it, as the log tells it, or NULL.

    The names of its parameters begin with ``prefix``.
    """
    whole = [path for path in paths if path not in lacking]
    others = [path for path in paths if path in lacking]
    told = sorted({name for path in others for name in lacking[path]} & set(schema.names))
    parts = [f"SELECT {_typed(schema)} WHERE FALSE"]
    parameters: dict[str, Any] = {}
    if whole:
        read = _READ.format(files=f"${prefix}files", more="")
        parts.append(f"SELECT * FROM {read}")  # noqa: S608
        parameters[f"{prefix}files"] = file_list([join(location, path) for path in whole])
    if others:
        parts.append(_joined(schema, told, f"{prefix}lacking"))
        parameters[f"{prefix}lacking"] = file_list([join(location, path) for path in others])
        parameters[f"{prefix}lacking_names"] = [local_path(join(location, path)) for path in others]
        for index, name in enumerate(told):
            parameters[f"{prefix}lacking_{index}"] = [lacking[path].get(name) for path in others]
    return f"({' UNION ALL BY NAME '.join(parts)})", parameters


def _joined(schema: TableSchema, told: Sequence[str], name: str) -> str:
    """Each row with what is told of its file; a file of which nothing is told has no row."""
    read = _READ.format(files=f"${name}", more=", filename = 'lg_file'")
    held = f"SELECT {_typed(schema)}, CAST(NULL AS VARCHAR) AS lg_file WHERE FALSE"
    values = "".join(f", unnest(${name}_{at}) AS lg_value_{at}" for at in range(len(told)))
    columns = ", ".join(
        f"CAST(v.lg_value_{told.index(c.name)} AS {sql_type(c.type)}) AS {quoted(c.name)}"
        if c.name in told
        else f"r.{quoted(c.name)}"
        for c in schema.columns
    )
    return (
        f"SELECT {columns}"  # noqa: S608 - names are quoted, values bound
        f" FROM ({held} UNION ALL BY NAME SELECT * FROM {read}) r"
        f" JOIN (SELECT unnest(${name}_names) AS lg_file{values}) v ON r.lg_file = v.lg_file"
    )


def _typed(schema: TableSchema) -> str:
    """Columns of no rows, each in the type that files hold it in."""
    types = ((c.name, "FLOAT" if c.type == "float" else sql_type(c.type)) for c in schema.columns)
    return ", ".join(f"CAST(NULL AS {kind}) AS {quoted(name)}" for name, kind in types)
