"""Where the columns of a build's SELECT come from; imported only where somebody asks."""

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
"""Parts of a window: they say where a row stands, and are not in its value."""
_UNNAMED = "_col_"
"""How the parser begins the name of what has none."""


@dataclass(frozen=True)
class ColumnSource:
    """A column of a dataset that a value is made of, and the functions that it passed."""

    dataset: DatasetName
    column: str
    through: frozenset[str]


Sources = Mapping[str, frozenset[ColumnSource] | None]
"""By column of the result, in lower case; None is one that cannot be followed."""


class _Lost(Exception):
    """The way of a column cannot be followed."""


def column_sources(text: str, schemas: Mapping[DatasetName, TableSchema]) -> Sources:
    """Every column of the result; empty where the SELECT as a whole cannot be followed."""
    known = tuple(sorted((name, schema.names) for name, schema in schemas.items()))
    return _sources(text, known)


@lru_cache(maxsize=256)
def _sources(text: str, tables: tuple[tuple[DatasetName, tuple[str, ...]], ...]) -> Sources:
    try:
        scope = _scope(text, tables)
        names = _names(scope)
    except Exception:  # noqa: BLE001 - a fault of the parser is one more text that it cannot follow
        return {}
    found: dict[str, frozenset[ColumnSource] | None] = {}
    for index, name in enumerate(names):
        try:
            found[name] = frozenset(_trace(scope, index, 0))
        except Exception:  # noqa: BLE001 - nor does it make another column unknown
            found[name] = None
    return found


def _scope(text: str, tables: tuple[tuple[DatasetName, tuple[str, ...]], ...]) -> Scope:
    layers: dict[str, dict[str, dict[str, str]]] = {}
    for name, columns in tables:
        layers.setdefault(name.layer.value, {})[name.name] = dict.fromkeys(columns, "STRING")
    tree = Databricks().parse(text)[0]
    if tree is None:
        raise _Lost
    whole = qualify(
        tree,
        schema=dict(layers),
        dialect=_DIALECT,
        identify=False,
        quote_identifiers=False,
        validate_qualify_columns=False,
    )
    scope = build_scope(whole)
    if scope is None or any(map(_is_wide, _selects(scope))):
        raise _Lost
    return scope


def _is_wide(projection: exp.Expr) -> bool:
    """Whether it may be several columns, so that names and places after it are not known."""
    unnamed = projection.alias_or_name.startswith(_UNNAMED)
    makes_rows = isinstance(projection.unalias(), exp.UDTF | exp.Anonymous)
    return projection.is_star or not projection.alias_or_name or (unnamed and makes_rows)


def _selects(scope: Scope) -> list[exp.Expr]:
    if not isinstance(scope.expression, exp.Query):
        raise _Lost
    return list(scope.expression.selects)


def _names(scope: Scope) -> list[str]:
    """Of a set operation, those of its first branch."""
    return [item.alias_or_name.casefold() for item in _selects(scope)]


def _trace(scope: Scope, index: int, depth: int) -> Iterator[ColumnSource]:
    """What the projection at ``index`` is made of, in every branch of a set operation."""
    if depth > _DEEPEST:
        raise _Lost
    if scope.set_operation_scopes:
        for branch in scope.set_operation_scopes:
            if any(map(_is_wide, _selects(branch))):
                raise _Lost
            yield from _trace(branch, index, depth + 1)
        return
    projection = _selects(scope)[index]
    if any(map(_takes_all, projection.find_all(exp.Star))):
        raise _Lost
    for column in projection.find_all(exp.Column):
        through = _functions(column, projection)
        if through is not None and not column.is_star:
            yield from _origins(scope, column, through, depth)


def _takes_all(star: exp.Star) -> bool:
    """Whether values of all columns go where the star is; a count of rows has none of them."""
    whole = star.parent if isinstance(star.parent, exp.Column) else star
    return not isinstance(whole.parent, exp.Count)


def _functions(column: exp.Column, projection: exp.Expr) -> frozenset[str] | None:
    """Names of the functions around a column; None where it only places rows."""
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
            raise _Lost from None
        yield ColumnSource(dataset, column.name.casefold(), through)
        return
    names = _names(source)
    if column.name.casefold() not in names:
        raise _Lost
    for found in _trace(source, names.index(column.name.casefold()), depth + 1):
        yield ColumnSource(found.dataset, found.column, found.through | through)


def _source(scope: Scope, name: str) -> Scope | exp.Table:
    """What a name stands for here, or in a subquery here."""
    found = scope.sources.get(name)
    if found is None:
        for inner in scope.subquery_scopes:
            if name in inner.sources:
                found = inner.sources[name]
    if isinstance(found, exp.Table):
        return found
    if isinstance(found, Scope) and isinstance(found.expression, exp.Query):
        return found
    raise _Lost
