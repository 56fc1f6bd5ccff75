"""Columns of a SELECT list, with the names that Spark gives to items without an alias.

Imported on demand, because sqlglot is slow to import.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from lakeguard.registry.sql.column_values import ColumnValues, dotted_name
from lakeguard.registry.sql.spark_functions import AGGREGATES, GENERATORS
from lakeguard.registry.sql.sql_relations import Field, Relation, Scope
from lakeguard.registry.sql.sql_words import Words

_CASTS = {
    "cast", "try_cast", "bigint", "binary", "boolean", "date", "decimal", "double", "float", "int",
    "smallint", "string", "timestamp", "tinyint",
}  # fmt: skip
"""Functions whose result Spark names as the column that they cast."""


class SelectLists:
    """Follows the items of SELECT lists."""

    def __init__(self, words: Words, values: ColumnValues) -> None:
        self._words = words
        self._values = values

    def columns(self, items: Sequence[exp.Expr], scope: Scope) -> Relation:
        """The columns of the list. What an item is called is added to the scope's aliases: items
        after it see it, unless FROM has a column of that name."""
        self._add_generators(items, scope)
        fields: list[Field] = []
        opened: frozenset[str | None] = frozenset()
        for item in items:
            known = len(self._words.missing)
            shown = self._item(item, scope)
            self._add_names(item, shown, scope, misspelt=len(self._words.missing) > known)
            fields += shown.fields
            opened |= shown.open
        return Relation(tuple(replace(each, qualifier=None) for each in fields), open=opened)

    def _item(self, item: exp.Expr, scope: Scope) -> Relation:
        if _is_star(item):
            return self._values.star(item, scope)
        names = list(_aliases(item))
        if names:
            self._words.claim(*names)
            value = self._values.of(item.this, scope)
            return Relation(tuple(Field(name.name, value) for name in names))
        value = self._values.of(item, scope)
        if self._words.called(item.unnest()) in GENERATORS:
            return Relation(open=frozenset({None}))
        return Relation((Field(self._generated(item, scope), value),))

    def _generated(self, item: exp.Expr, scope: Scope) -> str | None:
        """The name of an item without alias, if it is certainly that of a column or field."""
        item = item.unnest()
        is_cast = isinstance(item, exp.Cast)
        parts = dotted_name(item.this if is_cast else item)
        called = self._words.before(parts[0]) if parts else None
        if called is None:
            return None
        names = [part.name.casefold() for part in parts]
        if scope.relation.has(names):
            named = not called or (is_cast and len(called) == 1 and called[0] in _CASTS)
        else:
            is_call = len(names) == 1 and self._words.is_call(names[0])
            named = not (is_cast or called or is_call) and bool(scope.find(names))
        return parts[-1].name if named else None

    # What later items see

    def _add_generators(self, items: Sequence[exp.Expr], scope: Scope) -> None:
        """Their columns become columns of FROM, for all items."""
        for item in items:
            call = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
            if self._words.called(call.unnest()) in GENERATORS:
                names = list(_aliases(item))
                scope.aliases.open |= not names
                value = self._values.of(call, scope) if names else None
                for name in names:
                    scope.aliases.add(name.name.casefold(), value)

    def _add_names(self, item: exp.Expr, shown: Relation, scope: Scope, *, misspelt: bool) -> None:
        """An item that is misspelt has the name that was meant, which nothing else has."""
        if isinstance(item, exp.Alias):
            scope.aliases.add(item.alias.casefold(), shown.fields[0].value)
        elif _is_star(item):
            scope.aliases.open |= bool(shown.open - scope.relation.open)  # fields of a struct
        elif shown.fields and shown.fields[0].name is None:
            is_call = misspelt or self._words.called(item) in AGGREGATES
            scope.aliases.has_calls |= is_call
            scope.aliases.open |= not is_call
        else:
            for field in shown.fields:
                if field.name is not None and not scope.relation.has([field.name]):
                    scope.aliases.add(field.name, field.value)


def _is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    )


def _aliases(item: exp.Expr) -> Iterator[exp.Expr]:
    match item:
        case exp.Alias():
            yield item.args["alias"]
        case exp.Aliases():
            yield from item.expressions
