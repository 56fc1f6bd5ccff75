"""What a value of a SELECT is made of. Imported on demand, because sqlglot is slow to import."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from lakeguard.registry.sql.sql_relations import (
    Ingredients,
    NotModelled,
    Relation,
    Scope,
    Value,
    together,
)
from lakeguard.registry.sql.sql_words import Words

_PLACES_ROWS = ("partition_by", "order")
"""Parts of a window, which order rows but do not contribute to the value."""

Query = Callable[[exp.Expr, Scope, Ingredients], Relation]
_Names = frozenset[str]
_NONE: _Names = frozenset()


class ColumnValues:
    """Follows expressions to the columns that they read."""

    def __init__(self, words: Words, query: Query) -> None:
        self._words = words
        self._query = query

    def of(self, node: exp.Expr, scope: Scope) -> Value:
        found = Ingredients()
        self._follow(node, scope, found, _NONE, _NONE)
        return found.value

    def visit(self, nodes: object, scope: Scope, used: Ingredients | None) -> None:
        """Follow what contributes to no column, but to ``used`` inside another expression."""
        found = used or Ingredients()
        for node in nodes if isinstance(nodes, list) else [nodes]:
            if isinstance(node, exp.Expr):
                self._follow(node, scope, found, _NONE, _NONE)

    def star(self, node: exp.Expr, scope: Scope) -> Relation:
        """The columns of ``*`` or ``t.*``, with EXCEPT."""
        star = node.this if isinstance(node, exp.Column) else node
        self._words.claim(node)
        if any(star.args.get(key) for key in ("replace", "rename", "ilike")):
            raise NotModelled
        qualifier = None
        if isinstance(node, exp.Column):
            if node.args.get("db"):
                raise NotModelled
            qualifier = node.table.casefold()
        found = scope.relation.star(qualifier)
        left_out = {self._left_out(item) for item in star.args.get("except_") or ()}
        fields = tuple(item for item in found.fields if item.name not in left_out)
        return Relation(fields, open=found.open)

    def _left_out(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Column) and not node.table:
            return node.name.casefold()
        raise NotModelled  # a field of a struct

    def _follow(
        self,
        root: exp.Expr,
        scope: Scope,
        found: Ingredients,
        through: _Names,
        variables: _Names,
    ) -> None:
        """``variables`` are those of the lambda functions around it, which hide columns."""
        waiting = [(root, through, variables)]
        while waiting:
            node, through, variables = waiting.pop()
            match node:
                case exp.Column(this=exp.Star()) | exp.Star():
                    if not _counts_rows(node):
                        found.add(_all_of(self.star(node, scope)), through)
                    self._words.claim(node)
                    continue
                case exp.Column() | exp.Dot() if parts := dotted_name(node):
                    self._column(parts, scope, found, through, variables)
                    continue
                case exp.Column():
                    raise NotModelled
                case exp.Identifier():
                    if node.name.casefold() in variables:
                        self._words.claim(node)
                    continue
                case exp.Query() | exp.Values():
                    self._subquery(node, scope, found, through)
                    continue
                case exp.DataType():
                    self._words.claim(node)
                    continue
                case exp.Lambda():
                    self._words.claim(*node.expressions)
                    names = {item.name.casefold() for item in node.expressions}
                    waiting.append((node.this, through, variables | names))
                    continue
            through = through | self._functions(node)
            for child in self._children(node, scope, variables):
                waiting.append((child, through, variables))

    def _children(self, node: exp.Expr, scope: Scope, variables: _Names) -> Iterator[exp.Expr]:
        """The operands of an expression; names that are no columns are claimed."""
        skipped: tuple[str, ...] = ()
        match node:
            case exp.Window():
                for key in _PLACES_ROWS:
                    for child in _operands(node, key):
                        self._follow(child, scope, Ingredients(), _NONE, variables)
                self._words.claim(node.args.get("alias"))
                if isinstance(node.this, exp.Identifier):
                    self._words.claim(node.this)  # WINDOW name AS (...)
                skipped = (*_PLACES_ROWS, "alias")
            case exp.Dot(expression=exp.Identifier()):
                self._words.claim(node.expression)
                skipped = ("expression",)
            case exp.Alias():
                self._words.claim(node.args.get("alias"))
                skipped = ("alias",)
            case exp.PropertyEQ():  # in struct(a = b) the name is the parser's, and not claimed
                self._words.claim(node.this)
                skipped = ("this",)
        for key in node.args:
            if key not in skipped:
                yield from _operands(node, key)

    def _column(
        self,
        parts: list[exp.Identifier],
        scope: Scope,
        found: Ingredients,
        through: _Names,
        variables: _Names,
    ) -> None:
        self._words.claim(*parts)
        names = [part.name.casefold() for part in parts]
        if names[0] in variables:
            return
        fields = scope.find(names)
        if not fields:
            self._words.miss(parts, scope)
            found.add(None, through)
        for item in fields:
            found.add(item.value, through)

    def _subquery(self, node: exp.Expr, scope: Scope, found: Ingredients, through: _Names) -> None:
        """Everything that a subquery reads counts: its filter too decides on the value."""
        used = Ingredients()
        result = self._query(node, scope, used)
        found.add(together((used.value, _all_of(result))), through)

    def _functions(self, node: exp.Expr) -> _Names:
        if not isinstance(node, exp.Func):
            return _NONE
        called = self._words.called(node)
        if called:
            return frozenset({called})
        return frozenset(name.lower() for name in node.sql_names())


def dotted_name(node: exp.Expr) -> list[exp.Identifier]:
    """The parts of the name of a column or of a field, empty if it is something else. Spark ignores
    parentheses within it: ``(t).a`` is column ``a`` of ``t``."""
    fields: list[exp.Expr] = []
    node = node.unnest()
    while isinstance(node, exp.Dot):
        fields.insert(0, node.expression)
        node = node.this.unnest()
    if not isinstance(node, exp.Column):
        return []
    parts = [*node.parts, *fields]
    names = [part for part in parts if isinstance(part, exp.Identifier)]
    return names if len(names) == len(parts) else []


def _operands(node: exp.Expr, key: str) -> Iterator[exp.Expr]:
    value = node.args.get(key)
    for child in value if isinstance(value, list) else [value]:
        if isinstance(child, exp.Expr):
            yield child


def _all_of(relation: Relation) -> Value:
    if relation.open:
        return None
    return together(item.value for item in relation.fields)


def _counts_rows(node: exp.Expr) -> bool:
    """Whether it is the star of COUNT(*), which reads no column."""
    counted = node.parent
    return (
        isinstance(node, exp.Star)
        and isinstance(counted, exp.Count)
        and not counted.expressions
        and not any(node.args.values())
    )
