"""Resolves a SELECT to the columns that it shows and what each is made of, as Spark does.

Closed-world: whatever is not modelled here raises NotModelled. Imported on demand, because sqlglot
is slow to import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from lakeguard.registry.sql.column_values import ColumnValues
from lakeguard.registry.sql.select_lists import SelectLists
from lakeguard.registry.sql.sql_facts import KnownTable
from lakeguard.registry.sql.sql_pivots import pivoted
from lakeguard.registry.sql.sql_relations import (
    Aliases,
    ColumnSource,
    Field,
    Ingredients,
    NotModelled,
    Relation,
    Scope,
    together,
)
from lakeguard.registry.sql.sql_words import STRINGS, MissingColumn, Words, folds_as_in_spark
from lakeguard_sdk.core.dataset_name import DatasetName

_ORDERS = ("sort", "distribute", "cluster", "order", "limit", "offset")
_SEES_ALIASES = ("group", "having", "qualify", "windows", *_ORDERS)
_SELECT = {"with_", "expressions", "hint", "distinct", "from_", "joins", "laterals", "where",
           *_SEES_ALIASES}  # fmt: skip
_SET_OPERATION = {"with_", "this", "expression", "distinct", *_ORDERS}
_OF_A_RELATION = {"alias", "pivots", "joins"}
_SIDES = {"", "LEFT", "RIGHT", "FULL"}
_KINDS = {"", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"}
_MOST_ROUNDS = 20
_UNNAMED = "__auto_generated_subquery_name"
"""The alias that Spark gives to a subquery without one."""
_VIEW = "as"
"""The alias of ``LATERAL VIEW explode(a) AS b``: to Spark, AS is the alias and b a column."""

Common = Mapping[str, Relation]
"""Common table expressions by folded name."""


def resolve(
    root: exp.Expr, text: str, tokens: Sequence[Token], tables: Mapping[DatasetName, KnownTable]
) -> tuple[Relation, tuple[MissingColumn, ...]]:
    """The result of the SELECT, and every name in it that is no column."""
    names = [name for table in tables.values() for name in table.columns]
    texts = set() if root.find(exp.Pivot) else STRINGS  # PIVOT names columns by texts
    names += [token.text for token in tokens if token.token_type not in texts]
    if not all(map(folds_as_in_spark, names)) or _UNNAMED in map(str.casefold, names):
        raise NotModelled
    resolver = _Resolver(text, tokens, tables)
    result = resolver.query(root)
    resolver.words.refuse_unclaimed()
    resolver.refuse_unread(root)
    missing = resolver.words.missing
    return result, tuple(missing[start] for start in sorted(missing))


class _Resolver:
    """Queries and relations of one SELECT.

    ``used`` collects what filters and joins read; for a subquery within an expression that is part
    of the value.
    """

    def __init__(
        self, text: str, tokens: Sequence[Token], tables: Mapping[DatasetName, KnownTable]
    ) -> None:
        self._tables = tables
        self._read: set[int] = set()
        names = (name for table in tables.values() for name in table.columns)
        self.words = Words(text, tokens, names)
        self._values = ColumnValues(
            self.words, lambda node, scope, used: self.query(node, scope, scope.common, used)
        )
        self._lists = SelectLists(self.words, self._values)

    def refuse_unread(self, root: exp.Expr) -> None:
        """NotModelled if a relation was not looked at; hints name relations, too."""
        unread = (table for table in root.find_all(exp.Table) if id(table) not in self._read)
        if any(table.find_ancestor(exp.Hint) is None for table in unread):
            raise NotModelled

    def query(
        self,
        node: exp.Expr,
        outer: Scope | None = None,
        common: Common | None = None,
        used: Ingredients | None = None,
        *,
        is_relation: bool = False,
    ) -> Relation:
        """The columns of a query; those of a relation before its alias, pivots and joins."""
        common = self._with(node, outer, common or {}, used)
        match node:
            case exp.Select():
                result = self._select(node, outer, common, used)
            case exp.SetOperation():
                result = self._set_operation(node, outer, common, used)
            case exp.Subquery(this=exp.Query() | exp.Values()):
                _only(node, {"this", "with_", *_ORDERS, *(_OF_A_RELATION if is_relation else ())})
                result = self.query(node.this, outer, common, used)
                below = replace(result, open=result.open | {None})  # ORDER BY also sees its FROM
                self._visit(node, _ORDERS, Scope(below, outer, common=common), used)
            case exp.Values():
                _only(node, {"expressions", *_ORDERS})
                result = self._inline(node, Scope(Relation(), outer, common=common))
            case _:
                raise NotModelled
        self.words.names |= result.names
        return result

    def _with(
        self, node: exp.Expr, outer: Scope | None, common: Common, used: Ingredients | None
    ) -> Common:
        clause = node.args.get("with_")
        if clause is None:
            return common
        _only(clause, {"expressions", "recursive"})
        known = dict(common)
        for item in clause.expressions:
            _only(item, {"this", "alias"})
            name, columns = self.words.alias(item)
            if name is None:
                raise NotModelled
            recursive = bool(clause.args.get("recursive"))
            if recursive and isinstance(item.this, exp.Union):
                found = self._recursive(item, outer, known, used)
            elif recursive and _reads(item.this, name):
                raise NotModelled
            else:
                found = self.query(item.this, outer, known, used)
            self.words.has_unknown_names |= not found.is_certain
            known[name.casefold()] = found.aliased(None, columns)
        return known

    def _recursive(
        self, item: exp.CTE, outer: Scope | None, common: Common, used: Ingredients | None
    ) -> Relation:
        """The rows of the first branch, and whatever the second makes of them."""
        name, columns = self.words.alias(item)
        found = self.query(item.this.this, outer, common, used).aliased(None, columns)
        for _ in range(_MOST_ROUNDS):
            known = {**common, str(name).casefold(): found}
            again = self.query(item.this, outer, known, used).aliased(None, columns)
            if again == found:
                return found
            found = again
        raise NotModelled

    def _set_operation(
        self, node: exp.SetOperation, outer: Scope | None, common: Common, used: Ingredients | None
    ) -> Relation:
        """Columns by position; EXCEPT shows rows of its left side only."""
        _only(node, _SET_OPERATION)
        left = self.query(node.this, outer, common, used)
        right = self.query(node.expression, outer, common, used)
        if left.open or right.open or len(left.fields) != len(right.fields):
            result = Relation(open=frozenset({None}))
        else:
            pairs = zip(left.fields, right.fields, strict=True)
            alone = isinstance(node, exp.Except)
            result = Relation(
                tuple(
                    Field(one.spelled, one.value if alone else together((one.value, two.value)))
                    for one, two in pairs
                )
            )
        self._visit(node, _ORDERS, Scope(result, outer, common=common), used)
        return result

    def _select(
        self, node: exp.Select, outer: Scope | None, common: Common, used: Ingredients | None
    ) -> Relation:
        _only(node, _SELECT)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise NotModelled
        scope = self._from(node, Scope(Relation(), outer, common=common), used)
        result = self._lists.columns(node.expressions, scope)
        self._visit(node, ("where",), replace(scope, aliases=Aliases()), used)
        shown = {item.name: item.value for item in result.fields if item.name is not None}
        aliases = replace(scope.aliases, values=scope.aliases.values | shown)
        self._visit(node, _SEES_ALIASES, replace(scope, aliases=aliases), used)
        return result

    def _visit(
        self, node: exp.Expr, keys: Sequence[str], scope: Scope, used: Ingredients | None
    ) -> None:
        for key in keys:
            self._values.visit(node.args.get(key), scope, used)

    # Relations

    def _from(self, node: exp.Select, scope: Scope, used: Ingredients | None) -> Scope:
        """The scope of the SELECT."""
        clause = node.args.get("from_")
        if clause is None:
            if node.args.get("joins") or node.args.get("laterals"):
                raise NotModelled
            return scope
        relation = self._relation(clause.this, scope, used)
        _refuse_keyword_alias(clause.this, node)
        relation = self._joined(relation, node, scope, used)
        for lateral in node.args.get("laterals") or ():
            inner = replace(scope, relation=relation)
            relation = relation.beside(self._lateral(lateral, inner, used))
        return replace(scope, relation=relation)

    def _relation(self, node: exp.Expr, scope: Scope, used: Ingredients | None) -> Relation:
        """One relation; ``scope`` has those before it, for LATERAL."""
        blind = replace(scope, relation=Relation())
        match node:
            case exp.Lateral():
                return self._lateral(node, scope, used)
            case exp.Values():
                _only(node, {"expressions", "alias"})
                relation = self._renamed(self._inline(node, blind), node)
            case exp.Table():
                _only(node, {"this", "db", "alias", "pivots", "joins"})
                relation = self._table(node, blind)
            case exp.Subquery(this=exp.Query() as inner) if not _is_relation(inner):
                found = self.query(node, scope.outer, scope.common, used, is_relation=True)
                relation = self._renamed(found, node)
            case exp.Subquery():
                _only(node, {"this", "alias", "pivots", "joins"})
                relation = self._relation(node.this, blind, used)
                if node.args.get("alias"):
                    relation = self._renamed(relation, node)
            case _:
                raise NotModelled
        for pivot in node.args.get("pivots") or ():
            relation = pivoted(
                relation,
                pivot,
                self.words,
                lambda part, over: self._values.of(part, replace(blind, relation=over)),
            )
            if pivot.args.get("alias"):
                relation = self._renamed(relation, pivot)
            self.words.names |= relation.names
        _refuse_keyword_alias(node, node)
        return self._joined(relation, node, scope, used)

    def _renamed(self, relation: Relation, node: exp.Expr, default: str | None = None) -> Relation:
        alias, columns = self.words.alias(node)
        alias = alias or default
        self.words.has_unknown_names |= not relation.is_certain
        return relation.aliased(None if alias is None else alias.casefold(), columns)

    def _table(self, node: exp.Table, scope: Scope) -> Relation:
        self._read.add(id(node))
        match node.this:
            case exp.Values():
                return self._renamed(self._inline(node.this, scope), node)
            case exp.Func():
                return self._function(node.this, node, scope)
            case exp.Identifier():
                self.words.claim(node.this, node.args.get("db"))
            case _:
                raise NotModelled
        if not node.args.get("db"):
            found = scope.common.get(node.name.casefold())
            if found is None:
                raise NotModelled
            return self._renamed(found, node, node.name)
        name = f"{node.db}.{node.name}"
        table = next((table for known, table in self._tables.items() if known == name), None)
        if table is None:
            raise NotModelled
        fields = (
            Field(
                column, frozenset({ColumnSource(DatasetName(name), column.casefold(), frozenset())})
            )
            for column in table.columns
        )
        further = frozenset({None}) if table.has_more else frozenset()
        return self._renamed(Relation(tuple(fields), open=further), node, node.name)

    def _function(self, call: exp.Expr, node: exp.Expr, scope: Scope) -> Relation:
        """A table function: every column is made of all arguments."""
        _, columns = self.words.alias(node)
        called = self.words.called(call)
        value = self._values.of(call, scope)
        if not columns and called == "range":
            columns = ["id"]
        fields = tuple(Field(name, value) for name in columns)
        made = Relation(fields, open=frozenset() if columns else frozenset({None}))
        is_view = isinstance(node, exp.Lateral) and node.args.get("view")
        return self._renamed(made, node, _VIEW if is_view else None)

    def _lateral(self, node: exp.Lateral, scope: Scope, used: Ingredients | None) -> Relation:
        _only(node, {"this", "view", "outer", "alias"})
        if isinstance(node.this, exp.Subquery):
            return self._renamed(self.query(node.this, scope, scope.common, used), node)
        if not isinstance(node.this, exp.Func):
            raise NotModelled
        return self._function(node.this, node, scope)

    def _inline(self, node: exp.Values, scope: Scope) -> Relation:
        rows = [_items(row) for row in node.expressions]
        if not rows or any(len(row) != len(rows[0]) for row in rows):
            raise NotModelled
        return Relation(
            tuple(
                Field(f"col{place}", together(self._values.of(item, scope) for item in column))
                for place, column in enumerate(zip(*rows, strict=True), start=1)
            )
        )

    def _joined(
        self, left: Relation, node: exp.Expr, scope: Scope, used: Ingredients | None
    ) -> Relation:
        for join in node.args.get("joins") or ():
            left = self._join(left, join, scope, used)
        return left

    def _join(
        self, left: Relation, join: exp.Join, scope: Scope, used: Ingredients | None
    ) -> Relation:
        _only(join, {"this", "on", "side", "kind", "using", "method"})
        if join.side not in _SIDES or join.kind not in _KINDS or join.method not in ("", "NATURAL"):
            raise NotModelled
        if join.this.args.get("pivots"):
            raise NotModelled  # Spark applies it to the join
        right = self._relation(join.this, replace(scope, relation=left), used)
        self.words.names |= right.names
        both = left.beside(right)
        self._visit(join, ("on",), replace(scope, relation=both), used)
        keys = [each.name.casefold() for each in join.args.get("using") or ()]
        self.words.claim(*(join.args.get("using") or ()))
        filters = join.kind in ("SEMI", "ANTI")
        if filters and join.method:
            raise NotModelled  # Spark has none
        if not keys and not join.method:
            return left if filters else both
        if used is not None:
            for pair in left.key_pairs(right, keys or None):
                used.add(together(item.value for item in pair), frozenset())
        if filters:
            return left.filtered(keys)
        return left.merged(right, keys or None, join.side)


def _refuse_keyword_alias(relation: exp.Expr, node: exp.Expr) -> None:
    """NotModelled for ``UNPIVOT (…) RIGHT JOIN``: Spark takes RIGHT for the alias, and the join for
    an inner one."""
    pivots, joins = relation.args.get("pivots"), node.args.get("joins")
    if not pivots or not joins or pivots[-1].args.get("alias"):
        return
    if joins[0].side or joins[0].kind or joins[0].method:
        raise NotModelled


def _is_relation(node: exp.Expr) -> bool:
    """Whether parentheses hold a table, or a relation with a name or a join, not just a query."""
    if not isinstance(node, exp.Subquery):
        return False
    if any(node.args.get(key) for key in _OF_A_RELATION) or _is_relation(node.this):
        return True
    return not isinstance(node.this, exp.Query | exp.Values)


def _items(row: exp.Expr) -> list[exp.Expr]:
    """The columns of a row of VALUES. Spark also makes columns of the fields of a struct that
    stands alone, as in ``VALUES ((1, 2))``: that is left to it. So is an alias after a row without
    parentheses, which is that of the relation, and the parser takes for the value's."""
    items: list[exp.Expr] = row.expressions if isinstance(row, exp.Tuple) else [row]
    if len(items) == 1 and isinstance(items[0].unnest(), exp.Tuple | exp.Struct | exp.Alias):
        raise NotModelled
    return items


def _reads(node: exp.Expr, name: str) -> bool:
    """Whether a relation of this name, without a layer, is read anywhere in the query."""
    return any(
        not table.db and table.name.casefold() == name.casefold()
        for table in node.find_all(exp.Table)
    )


def _only(node: exp.Expr, keys: set[str]) -> None:
    """NotModelled if the node has another part."""
    if any(value and key not in keys for key, value in node.args.items()):
        raise NotModelled
