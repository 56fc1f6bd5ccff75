"""DuckDB relations over files whose partition columns exist only in the Delta log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeguard_sdk.storage.storage import join
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.delta_table import Values
from openlaketx.engine.duckdb_reader import file_list
from openlaketx.engine.locations import duckdb_name
from openlaketx.measure.sql.condition_sql import quoted, sql_type

_READ = "read_parquet({files}, hive_partitioning = false, union_by_name = true{more})"


def rows_with_log_columns(
    location: str, schema: TableSchema, paths: Sequence[str], lacking: Values, prefix: str = ""
) -> tuple[str, dict[str, Any]]:
    """Every column of the schema: from the file, else from the Delta log, else NULL.

    Parameter names start with ``prefix``.
    """
    whole = [path for path in paths if path not in lacking]
    others = [path for path in paths if path in lacking]
    log_columns = sorted({name for path in others for name in lacking[path]} & set(schema.names))
    parts = [f"SELECT {_typed(schema)} WHERE FALSE"]
    parameters: dict[str, Any] = {}
    if whole:
        read = _READ.format(files=f"${prefix}files", more="")
        parts.append(f"SELECT * FROM {read}")  # noqa: S608
        parameters[f"{prefix}files"] = file_list([join(location, path) for path in whole])
    if others:
        parts.append(_joined(schema, log_columns, f"{prefix}lacking"))
        parameters[f"{prefix}lacking"] = file_list([join(location, path) for path in others])
        parameters[f"{prefix}lacking_names"] = [
            duckdb_name(join(location, path)) for path in others
        ]
        for index, name in enumerate(log_columns):
            parameters[f"{prefix}lacking_{index}"] = [lacking[path].get(name) for path in others]
    return f"({' UNION ALL BY NAME '.join(parts)})", parameters


def _joined(schema: TableSchema, log_columns: Sequence[str], name: str) -> str:
    """Joins each row with the log values of its file; files without log values are left out."""
    read = _READ.format(files=f"${name}", more=", filename = 'lg_file'")
    typed = f"SELECT {_typed(schema)}, CAST(NULL AS VARCHAR) AS lg_file WHERE FALSE"
    values = "".join(f", unnest(${name}_{at}) AS lg_value_{at}" for at in range(len(log_columns)))
    columns = ", ".join(
        f"CAST(v.lg_value_{log_columns.index(c.name)} AS {sql_type(c.type)}) AS {quoted(c.name)}"
        if c.name in log_columns
        else f"r.{quoted(c.name)}"
        for c in schema.columns
    )
    return (
        f"SELECT {columns}"  # noqa: S608 - names are quoted, values bound
        f" FROM ({typed} UNION ALL BY NAME SELECT * FROM {read}) r"
        f" JOIN (SELECT unnest(${name}_names) AS lg_file{values}) v ON r.lg_file = v.lg_file"
    )


def _typed(schema: TableSchema) -> str:
    """An empty relation with each column in the type that the files use."""
    types = ((c.name, "FLOAT" if c.type == "float" else sql_type(c.type)) for c in schema.columns)
    return ", ".join(f"CAST(NULL AS {kind}) AS {quoted(name)}" for name, kind in types)
