"""Column lineage of a build's SELECT. Imported on demand, because sqlglot is slow to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from lakeguard.registry.sql.column_resolution import resolve
from lakeguard.registry.sql.sql_facts import KnownTable
from lakeguard.registry.sql.sql_parsing import parse_select
from lakeguard.registry.sql.sql_relations import ColumnSource, Value, together
from lakeguard.registry.sql.sql_words import MissingColumn
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.types.schema import TableSchema

__all__ = ["ColumnSource", "Lineage", "Value", "column_lineage", "missing_columns"]


@dataclass(frozen=True)
class Lineage:
    """What each result column is made of, by name in lower case."""

    columns: Mapping[str, Value] = field(default_factory=dict)
    complete: bool = False
    """Whether there are no other result columns."""


def column_lineage(text: str, schemas: Mapping[DatasetName, TableSchema]) -> Lineage:
    """Sources of every result column; everything is unknown if the SELECT cannot be analysed."""
    known = {name: KnownTable(tuple(schema.names)) for name, schema in schemas.items()}
    return _lineage(text, _sorted(known))[0]


def missing_columns(
    text: str, tables: Mapping[DatasetName, KnownTable]
) -> tuple[MissingColumn, ...]:
    """Names that are certainly no column, in text order; none if the SELECT cannot be analysed."""
    return _lineage(text, _sorted(tables))[1]


_Tables = tuple[tuple[DatasetName, KnownTable], ...]


def _sorted(tables: Mapping[DatasetName, KnownTable]) -> _Tables:
    return tuple(sorted(tables.items(), key=lambda item: item[0]))


@lru_cache(maxsize=256)
def _lineage(text: str, tables: _Tables) -> tuple[Lineage, tuple[MissingColumn, ...]]:
    try:
        root, tokens = parse_select(text)
        result, missing = resolve(root, text, tokens, dict(tables))
    except Exception:  # noqa: BLE001 - whatever the reason, nothing is known
        return Lineage(), ()
    found: dict[str, Value] = {}
    for item in result.fields:
        if item.name is not None:
            found[item.name] = together((found.get(item.name, frozenset()), item.value))
    return Lineage(found, complete=result.is_certain), missing
