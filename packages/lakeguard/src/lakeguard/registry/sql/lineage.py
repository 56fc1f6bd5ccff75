"""Column lineage of a build's SELECT. Imported on demand, because sqlglot is slow to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from lakeguard.registry.sql.column_resolution import KnownTable, resolve
from lakeguard.registry.sql.sql_parsing import parse_select
from lakeguard.registry.sql.sql_relations import ColumnSource, Value, together
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.types.schema import TableSchema

__all__ = ["ColumnSource", "Lineage", "Value", "column_lineage"]


@dataclass(frozen=True)
class Lineage:
    """What each result column is made of, by name in lower case."""

    columns: Mapping[str, Value] = field(default_factory=dict)
    complete: bool = False
    """Whether there are no other result columns."""


def column_lineage(text: str, schemas: Mapping[DatasetName, TableSchema]) -> Lineage:
    """Sources of every result column; everything is unknown if the SELECT cannot be analysed."""
    known = tuple(sorted((name, schema.names) for name, schema in schemas.items()))
    return _lineage(text, known)


@lru_cache(maxsize=256)
def _lineage(text: str, tables: tuple[tuple[DatasetName, tuple[str, ...]], ...]) -> Lineage:
    try:
        root, tokens = parse_select(text)
        known = {name: KnownTable(tuple(columns)) for name, columns in tables}
        result, _ = resolve(root, text, tokens, known)
    except Exception:  # noqa: BLE001 - whatever the reason, nothing is known
        return Lineage()
    found: dict[str, Value] = {}
    for item in result.fields:
        if item.name is not None:
            found[item.name] = together((found.get(item.name, frozenset()), item.value))
    return Lineage(found, complete=result.is_certain)
