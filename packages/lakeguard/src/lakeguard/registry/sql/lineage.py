"""Column lineage of a build's SELECT. Imported on demand, because sqlglot is slow to import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import BadName
from lakeguard_sdk.types.schema import TableSchema

_DIALECT = "databricks"
_DEEPEST = 50
_PLACES_ROWS = ("partition_by", "order")
"""Parts of a window, which order rows but do not contribute to the value."""
_UNNAMED = "_col_"
"""Prefix of names that the parser generates."""


@dataclass(frozen=True)
class ColumnSource:
    """A source column of a value, and the functions applied to it."""

    dataset: DatasetName
    column: str
    through: frozenset[str]


Sources = Mapping[str, frozenset[ColumnSource] | None]
"""Sources by result column in lower case; None if unknown."""


class _UnknownLineage(Exception):
    """The lineage of a column is unknown."""


def column_sources(text: str, schemas: Mapping[DatasetName, TableSchema]) -> Sources:
    """Sources of every result column; empty if the SELECT cannot be analysed."""
    known = tuple(sorted((name, schema.names) for name, schema in schemas.items()))
    return _sources(text, known)


@lru_cache(maxsize=256)
def _sources(text: str, tables: tuple[tuple[DatasetName, tuple[str, ...]], ...]) -> Sources:
    try:
        scope = _scope(text, tables)
        names = _names(scope)
    except Exception:  # noqa: BLE001 - a parser failure means unknown lineage
        return {}
    found: dict[str, frozenset[ColumnSource] | None] = {}
    for index, name in enumerate(names):
        try:
            found[name] = frozenset(_trace(scope, index, 0))
        except Exception:  # noqa: BLE001 - affects this column only
            found[name] = None
    return found


def _scope(text: str, tables: tuple[tuple[DatasetName, tuple[str, ...]], ...]) -> Scope:
    layers: dict[str, dict[str, dict[str, str]]] = {}
    for name, columns in tables:
        layers.setdefault(name.layer.value, {})[name.name] = dict.fromkeys(columns, "STRING")
    tree = Databricks().parse(text)[0]
    if tree is None:
        raise _UnknownLineage
    qualified = qualify(
        tree,
        schema=dict(layers),
        dialect=_DIALECT,
        identify=False,
        quote_identifiers=False,
        validate_qualify_columns=False,
    )
    scope = build_scope(qualified)
    if scope is None or any(map(_is_wide, _selects(scope))):
        raise _UnknownLineage
    return scope


def _is_wide(projection: exp.Expr) -> bool:
    """Whether it may expand to several columns, so later positions are unknown."""
    unnamed = projection.alias_or_name.startswith(_UNNAMED)
    makes_rows = isinstance(projection.unalias(), exp.UDTF | exp.Anonymous)
    return projection.is_star or not projection.alias_or_name or (unnamed and makes_rows)


def _selects(scope: Scope) -> list[exp.Expr]:
    if not isinstance(scope.expression, exp.Query):
        raise _UnknownLineage
    return list(scope.expression.selects)


def _names(scope: Scope) -> list[str]:
    """Column names; for a set operation, those of its first branch."""
    return [item.alias_or_name.casefold() for item in _selects(scope)]


def _trace(scope: Scope, index: int, depth: int) -> Iterator[ColumnSource]:
    """Sources of the projection at ``index``, in every branch of a set operation."""
    if depth > _DEEPEST:
        raise _UnknownLineage
    if scope.set_operation_scopes:
        for branch in scope.set_operation_scopes:
            if any(map(_is_wide, _selects(branch))):
                raise _UnknownLineage
            yield from _trace(branch, index, depth + 1)
        return
    projection = _selects(scope)[index]
    if any(map(_takes_all, projection.find_all(exp.Star))):
        raise _UnknownLineage
    for column in projection.find_all(exp.Column):
        through = _functions(column, projection)
        if through is not None and not column.is_star:
            yield from _origins(scope, column, through, depth)


def _takes_all(star: exp.Star) -> bool:
    """Whether the star reads column values; COUNT(*) does not."""
    qualified = star.parent if isinstance(star.parent, exp.Column) else star
    return not isinstance(qualified.parent, exp.Count)


def _functions(column: exp.Column, projection: exp.Expr) -> frozenset[str] | None:
    """Functions applied to a column; None if it only orders or partitions a window."""
    names: set[str] = set()
    node: exp.Expr = column
    while node is not projection and node.parent is not None:
        above = node.parent
        if isinstance(above, exp.Window) and node.arg_key in _PLACES_ROWS:
            return None
        if isinstance(above, exp.Anonymous | exp.AnonymousAggFunc):
            names.add(str(above.this).lower())
        elif isinstance(above, exp.Func):
            names |= {name.lower() for name in above.sql_names()}
        node = above
    return frozenset(names)


def _origins(
    scope: Scope, column: exp.Column, through: frozenset[str], depth: int
) -> Iterator[ColumnSource]:
    source = _source(scope, column.table)
    if isinstance(source, exp.Table):
        try:
            dataset = DatasetName(f"{source.db}.{source.name}".lower())
        except BadName:
            raise _UnknownLineage from None
        yield ColumnSource(dataset, column.name.casefold(), through)
        return
    names = _names(source)
    if column.name.casefold() not in names:
        raise _UnknownLineage
    for found in _trace(source, names.index(column.name.casefold()), depth + 1):
        yield ColumnSource(found.dataset, found.column, found.through | through)


def _source(scope: Scope, name: str) -> Scope | exp.Table:
    """The relation of a name in this scope or its subqueries."""
    found = scope.sources.get(name)
    if found is None:
        for inner in scope.subquery_scopes:
            if name in inner.sources:
                found = inner.sources[name]
    if isinstance(found, exp.Table):
        return found
    if isinstance(found, Scope) and isinstance(found.expression, exp.Query):
        return found
    raise _UnknownLineage
