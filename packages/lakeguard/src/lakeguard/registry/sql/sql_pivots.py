"""Columns of PIVOT and UNPIVOT. Imported on demand, because sqlglot is slow to import."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from lakeguard.registry.sql.sql_relations import Field, NotModelled, Relation, Value, together
from lakeguard.registry.sql.sql_words import Words

_PIVOT = {"expressions", "fields", "unpivot", "alias", "columns", "include_nulls"}
_OF_THE_PARSER = {"identify_pivot_strings", "prefixed_pivot_columns", "pivot_column_naming",
                  "value_columns_first"}  # fmt: skip

ValueOf = Callable[[exp.Expr, Relation], Value]


def pivoted(relation: Relation, pivot: exp.Pivot, words: Words, value_of: ValueOf) -> Relation:
    """The relation after a PIVOT or UNPIVOT clause."""
    extra = {key for key, value in pivot.args.items() if value} - _PIVOT - _OF_THE_PARSER
    if extra or not relation.is_certain or len(pivot.fields) != 1:
        raise NotModelled
    (chosen,) = pivot.fields
    if not isinstance(chosen, exp.In) or chosen.args.get("field") or chosen.args.get("query"):
        raise NotModelled
    made = _unpivoted if pivot.unpivot else _spread
    return made(relation, pivot, chosen, words, value_of)


def _unpivoted(
    relation: Relation, pivot: exp.Pivot, chosen: exp.In, words: Words, value_of: ValueOf
) -> Relation:
    """The other columns, a name, and values that come from every listed column."""
    targets = [name for item in pivot.expressions for name in _listed(item)]
    if not all(isinstance(name, exp.Identifier) for name in (*targets, chosen.this)):
        raise NotModelled
    words.claim(*targets, chosen.this)
    taken: list[Field] = []
    values: list[list[Value]] = [[] for _ in targets]
    for item in chosen.expressions:
        if isinstance(item, exp.PivotAlias):
            words.claim(item.args.get("alias"))
            item = item.this
        columns = list(_listed(item))
        if len(columns) != len(targets):
            raise NotModelled
        for place, column in enumerate(columns):
            taken += _fields(relation, column)
            values[place].append(value_of(column, relation))
    made = [
        Field(target.name, together(found)) for target, found in zip(targets, values, strict=True)
    ]
    rest = [item for item in relation.fields if item not in taken]
    return Relation((*rest, Field(chosen.this.name, frozenset()), *made))


def _spread(
    relation: Relation, pivot: exp.Pivot, chosen: exp.In, words: Words, value_of: ValueOf
) -> Relation:
    """The columns that PIVOT does not name, and one for each value and aggregate."""
    keys = list(_listed(chosen.this))
    if any(root.find(exp.Query, exp.Lambda, exp.Dot) for root in (*pivot.expressions, *keys)):
        raise NotModelled
    read = {
        item
        for root in (*pivot.expressions, *keys)
        for column in root.find_all(exp.Column)
        for item in _fields(relation, column)
    }
    by = together(value_of(key, relation) for key in keys)
    made = [
        Field(name, together((by, value_of(aggregate, relation))))
        for value in chosen.expressions
        for name, aggregate in _named(value, pivot.expressions, words)
    ]
    for value in chosen.expressions:
        value_of(value, relation)
    return Relation((*(item for item in relation.fields if item not in read), *made))


def _named(
    value: exp.Expr, aggregates: list[exp.Expr], words: Words
) -> Iterator[tuple[str | None, exp.Expr]]:
    """Spark adds the name of an aggregate if there are several."""
    name = _name_of(value, words)
    for aggregate in aggregates:
        if len(aggregates) == 1:
            yield name, aggregate
        elif name is None or not isinstance(aggregate.args.get("alias"), exp.Identifier):
            yield None, aggregate
        else:
            yield f"{name}_{aggregate.alias}", aggregate


def _name_of(value: exp.Expr, words: Words) -> str | None:
    """The name that Spark gives to a value: its alias, or what it prints for it."""
    alias = value.args.get("alias")
    match value:
        case exp.PivotAlias() if isinstance(alias, exp.Identifier):
            words.claim(alias)
            return alias.name
        case exp.Literal(is_string=True) if words.is_plain_text(value.name):
            return value.name
        case exp.Literal(is_string=False) if value.name.isdecimal():
            return str(int(value.name))
    return None


def _listed(node: exp.Expr) -> Iterator[exp.Expr]:
    match node:
        case exp.Tuple():
            yield from node.expressions
        case exp.Paren():
            yield node.this
        case _:
            yield node


def _fields(relation: Relation, column: exp.Expr) -> list[Field]:
    if not isinstance(column, exp.Column):
        raise NotModelled
    found = relation.find([part.name.casefold() for part in column.parts])
    if len(found) != 1:
        raise NotModelled
    return found
