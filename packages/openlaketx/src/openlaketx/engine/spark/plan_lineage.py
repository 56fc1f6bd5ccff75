"""Column lineage of an analysed plan, from its JSON.

Attributes have ids that are unique in a JVM: an operator passes an attribute on under its id, and
gives what it computes a new one. Functions of the program are unknown, because the plan does not
show what their code uses besides the arguments; so are leaves that are not modelled here. Other
operators that are not modelled make every column from all columns below them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakeguard_sdk.model.lineage import CODE_OF_PROGRAM, ROWS_OF_DATABASE, ROWS_OF_PROGRAM
from openlaketx.engine.spark.analysed_plan import (
    AnalysedPlan,
    Node,
    Scan,
    Tree,
    attribute_of,
    plans_in,
    tree_of,
    trees_in,
)
from openlaketx.engine.spark.column_origins import (
    ANY_FILE,
    BY_CODE,
    NOTHING,
    UNKNOWN,
    Origins,
    Source,
    scanned,
    union,
)
from openlaketx.engine.spark.plan_words import (
    CLEAN_LEAVES,
    CODE_OF_THE_PROGRAM,
    COMPARES_ROWS,
    DECIDING,
    FILE_LEAVES,
    FILE_NAME,
    FUNCTIONS,
    INLINE_TABLES,
    LEAF_WORDS,
    MADE_OF_NOTHING,
    NAMING,
    NO_VALUE,
    ONE_SIDE,
    PASSES_ON,
    ROWS_OF_LOOP,
)


@dataclass(frozen=True)
class PlanLineage:
    columns: tuple[Origins, ...]
    """Of the columns of the frame, in their order."""
    scans: frozenset[Scan]
    """All scans, those that only filter rows among them."""
    outside: frozenset[str]
    """Leaves that are no scans of files."""


def plan_lineage(
    plan: AnalysedPlan,
    views: Mapping[str, Sequence[str]],
    inputs: Mapping[str, Sequence[str]] | None = None,
) -> PlanLineage:
    """``views`` are the texts of views that stand for versions, with the columns of the versions.

    ``inputs`` are the names of such views for the SELECT of a definition, whose session no program
    has changed: each view has the rows of its input, and VALUES are literals of the SELECT.

    Raises ValueError, KeyError or the like if the plan cannot be read.
    """
    reader = _PlanReader(plan, views, inputs)
    rows = reader.rows(tree_of(json.loads(plan.text)), {})
    columns = tuple(reader.with_files(rows.origins(attribute)) for attribute in plan.output)
    by_code = {CODE_OF_PROGRAM} if any(each.by_code for each in columns) else set()
    outside = frozenset(reader.outside | reader.made | by_code)
    return PlanLineage(columns, frozenset(reader.scanned), outside)


@dataclass(frozen=True)
class _Rows:
    """The output of an operator."""

    columns: Mapping[int, Origins]
    order: Sequence[int] | None
    """None if it is not known."""
    rest: Origins = UNKNOWN
    """Of attributes that are not among the columns."""
    decided: Origins = NOTHING
    """What decides which rows exist, and in which order. In a subquery that returns a value, it
    also decides on the value."""

    def origins(self, attribute: int) -> Origins:
        return self.columns.get(attribute, self.rest)

    @property
    def everything(self) -> Origins:
        return union(self.columns.values()) | (NOTHING if self.order is not None else self.rest)

    def decided_by(self, *others: Origins) -> _Rows:
        return replace(self, decided=self.decided | union(others))

    def at(self, index: int) -> Origins:
        if self.order is None or index >= len(self.order):
            return self.everything | UNKNOWN
        return self.origins(self.order[index])


_Outer = Mapping[int, Origins]


@dataclass
class _PlanReader:
    """Follows attributes from the leaves up."""

    plan: AnalysedPlan
    views: Mapping[str, Sequence[str]]
    inputs: Mapping[str, Sequence[str]] | None
    scanned: set[Scan] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    shared: dict[int, _Rows] = field(default_factory=dict)
    """Rows of common table expressions."""
    made: set[str] = field(default_factory=set)
    """Whether rows or code of the program were used, as origins."""

    @property
    def _is_select(self) -> bool:
        return self.inputs is not None and not self.plan.has_variables

    def rows(self, tree: Tree, outer: _Outer) -> _Rows:
        if tree.kind == "WithCTE":
            found = [self.rows(child, outer) for child in tree.children]
            return found[-1]
        if tree.kind == "View":
            return self.view(tree, outer)
        below = [self.rows(child, outer) for child in tree.children]
        if not below:
            return self._leaf(tree)
        if tree.kind in PASSES_ON and len(below) == 1:
            return below[0].decided_by(*self._deciding(tree, below[0], outer))
        operator = _OPERATORS.get(tree.kind)
        if operator is None:
            return self._mixed(tree, below, outer)
        return operator(self, tree, below, outer)

    def _mixed(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        """Every column from everything below, and unknown if code of the program makes it."""
        everything = union(rows.everything for rows in below)
        if CODE_OF_THE_PROGRAM.search(tree.kind):
            self.made.add(CODE_OF_PROGRAM)
            everything = everything | BY_CODE
        self._read_subqueries(tree.node, _Rows({}, None), outer)
        decided = union(rows.decided for rows in below) | everything
        return _Rows({}, None, everything, decided)

    def _leaf(self, tree: Tree) -> _Rows:
        if tree.kind == "CTERelationRef":
            shared = self.shared[int(tree.node["cteId"])]
            order = tree.attributes("output")
            columns = {each: shared.at(i) for i, each in enumerate(order)}
            return _Rows(columns, order, decided=shared.decided)
        if tree.kind in CLEAN_LEAVES and not self._is_select:
            self.made.add(ROWS_OF_PROGRAM)
        if tree.kind in CLEAN_LEAVES or (self._is_select and tree.kind in INLINE_TABLES):
            order = tree.attributes("output") if "output" in tree.node else []
            return _Rows(dict.fromkeys(order, NOTHING), order)
        if "output" not in tree.node:
            self.outside.add(tree.kind)
            return _Rows({}, None)
        listed = [item.node for item in tree.expressions("output")]
        order = [attribute_of(node) for node in listed]
        scan = self.plan.scans.get(order[0]) if order and tree.kind in FILE_LEAVES else None
        if scan is None:
            if tree.kind != ROWS_OF_LOOP:
                is_database = order and order[0] in self.plan.databases
                word = LEAF_WORDS.get(tree.kind, tree.kind)
                self.outside.add(ROWS_OF_DATABASE if is_database else word)
            return _Rows(dict.fromkeys(order, UNKNOWN), order)
        self.scanned.add(scan)
        return _Rows({attribute_of(node): scanned(scan, node) for node in listed}, order)

    def with_files(self, origins: Origins) -> Origins:
        """Facts of any file are those of every scan; a leaf that is no scan may read files, too."""
        if not origins.of_any_file:
            return origins
        scans = frozenset(self.plan.scans.values())
        self.scanned |= scans
        facts = Origins(frozenset(Source(scan, FILE_NAME, is_of_file=True) for scan in scans))
        return origins | facts | (UNKNOWN if self.outside else NOTHING)

    # Expressions.

    def value(self, tree: Tree, rows: _Rows, outer: _Outer) -> Origins:
        """What the value of an expression is made of."""
        if tree.kind == "AttributeReference":
            attribute = attribute_of(tree.node)
            return rows.columns.get(attribute) or outer.get(attribute) or rows.rest
        if tree.kind == "OuterReference":
            return self.value(tree_of(tree.node["e"]), rows, outer)
        parts, plan = _values_of(tree), tree.node.get("plan")
        found = union(self.value(child, rows, outer) for child in parts)
        if isinstance(plan, list):
            found = found | self._subquery_value(plan, rows, outer)
        elif not parts:
            found = self._without_arguments(tree)
        if tree.kind == NO_VALUE:
            return NOTHING
        if CODE_OF_THE_PROGRAM.search(tree.kind):
            found = found | BY_CODE
        return found.through(FUNCTIONS.get(str(tree.node["class"]), frozenset()))

    def _without_arguments(self, tree: Tree) -> Origins:
        if tree.kind == "Literal" and self.plan.has_variables and tree.node["value"] is not None:
            return UNKNOWN
        if tree.kind == FILE_NAME:
            return ANY_FILE
        return NOTHING if tree.kind in MADE_OF_NOTHING else UNKNOWN

    def _subquery(self, plan: list[Node], rows: _Rows, outer: _Outer) -> _Rows:
        inner = self.rows(tree_of(plan), {**outer, **rows.columns})
        if inner.order is None:
            return inner
        columns = {each: inner.origins(each) for each in inner.order}
        return _Rows(columns, inner.order, decided=inner.decided)

    def _subquery_value(self, plan: list[Node], rows: _Rows, outer: _Outer) -> Origins:
        shown = self._subquery(plan, rows, outer)
        return shown.everything | shown.decided

    def _deciding(self, tree: Tree, rows: _Rows, outer: _Outer) -> Iterator[Origins]:
        """What an operator selects or orders rows by: conditions, orders, keys and partitions.
        Scans in a subquery of a condition count as read."""
        for name, found in tree.node.items():
            if name in DECIDING:
                yield from (self.value(each, rows, outer) for each in trees_in(found))
            elif name not in NAMING:
                self._read_subqueries(found, rows, outer)
        if tree.kind in COMPARES_ROWS:
            yield rows.everything

    def _read_subqueries(self, node: Any, rows: _Rows, outer: _Outer) -> None:
        """Scans in subqueries count as read, but contribute no value."""
        for plan in plans_in(node):
            self._subquery(plan, rows, outer)

    def _named(
        self, items: Iterable[Tree], rows: _Rows, outer: _Outer
    ) -> tuple[dict[int, Origins], list[int]]:
        """Aliases and attributes of a list."""
        found = {attribute_of(item.node): self.value(item, rows, outer) for item in items}
        return found, [attribute_of(item.node) for item in items]

    # Operators.

    def view(self, tree: Tree, outer: _Outer) -> _Rows:
        """A view that stands for a version has the columns of the version under any names, even if
        its text contains their values as literals."""
        described = tree.node.get("desc") or {}
        key = str(described.get("viewText"))
        names = self.views.get(key)
        if names is None and self.inputs is not None:
            key = str(described["identifier"]["table"])
            names = self.inputs.get(key)
        made = set(self.made)
        (rows,) = (self.rows(child, outer) for child in tree.children)
        if names is None:
            return rows
        self.made = made
        scan = Scan((), view=key)
        self.scanned.add(scan)
        found = [Origins(frozenset({Source(scan, name)})) for name in names]
        if rows.order is None or len(rows.order) != len(names):
            return _Rows({}, None, union(found) | rows.everything)
        return _Rows(dict(zip(rows.order, found, strict=True)), rows.order)

    def project(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        items = tree.expressions("projectList")
        return _Rows(*self._named(items, below[0], outer), decided=below[0].decided)

    def aggregate(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        items = tree.expressions("aggregateExpressions")
        found = _Rows(*self._named(items, below[0], outer), decided=below[0].decided)
        return found.decided_by(*self._deciding(tree, below[0], outer))

    def window(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        found, order = self._named(tree.expressions("windowExpressions"), below[0], outer)
        return _added(below[0], found, order).decided_by(*self._deciding(tree, below[0], outer))

    def generate(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        made = self.value(tree_of(tree.node["generator"]), below[0], outer)
        order = tree.attributes("generatorOutput")
        rows, left_out = below[0], set(tree.node["unrequiredChildIndex"])
        if rows.order is not None:
            kept = [each for i, each in enumerate(rows.order) if i not in left_out]
            rows = replace(rows, order=kept)
        if made.by_code:
            self.made.add(CODE_OF_PROGRAM)
        return _added(rows, dict.fromkeys(order, made), order).decided_by(made)

    def expand(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        order = tree.attributes("output")
        if tree.node["projections"] is None:  # Spark has no JSON for some lists of lists
            everything = below[0].everything
            columns = {each: below[0].columns.get(each, everything) for each in order}
            return _Rows(columns, order, decided=below[0].decided)
        found = dict.fromkeys(order, NOTHING)
        for projection in tree.node["projections"]:
            for attribute, item in zip(order, projection, strict=True):
                found[attribute] = found[attribute] | self.value(tree_of(item), below[0], outer)
        return _Rows(found, order, decided=below[0].decided)

    def join(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        left, right = below
        both = _Rows({**left.columns, **right.columns}, None, left.rest | right.rest)
        decided = union((left.decided, right.decided, *self._deciding(tree, both, outer)))
        kind = json.dumps(tree.node.get("joinType"))
        if "Existence" in kind:
            return _Rows({}, None, left.everything | right.everything, decided)
        if any(side in kind for side in ONE_SIDE):
            return replace(left, decided=decided)
        known = left.order is not None and right.order is not None
        order = [*(left.order or ()), *(right.order or ())] if known else None
        return _Rows(both.columns, order, both.rest, decided)

    def lateral_join(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        left = below[0]
        (plan,) = plans_in(tree.node["right"])
        right = self._subquery(plan, left, outer)
        both = _added(left, dict(right.columns), list(right.order or ()), right)
        condition = tree.node.get("condition")
        on = (self.value(each, both, outer) for each in trees_in(condition))
        return both.decided_by(right.decided, *on)

    def set_operation(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        """By position; the ids are those of the first branch."""
        first = below[0]
        decided = self._compared(tree, below)
        if any(rows.order is None for rows in below):
            return _Rows({}, None, union(rows.everything for rows in below) | UNKNOWN, decided)
        order = list(first.order or ())
        found = {each: union(rows.at(i) for rows in below) for i, each in enumerate(order)}
        return _Rows(found, order, decided=decided)

    def except_rows(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        """The second branch removes rows, but contributes no value."""
        return replace(below[0], decided=self._compared(tree, below))

    def _compared(self, tree: Tree, below: Sequence[_Rows]) -> Origins:
        compared = below if tree.kind in COMPARES_ROWS else ()
        return union((*(rows.decided for rows in below), *(rows.everything for rows in compared)))

    def shared_rows(self, tree: Tree, below: Sequence[_Rows], outer: _Outer) -> _Rows:
        self.shared[int(tree.node["id"])] = below[0]
        return below[0]


_Operator = Callable[[_PlanReader, Tree, Sequence[_Rows], _Outer], _Rows]
_OPERATORS: Mapping[str, _Operator] = {
    "Aggregate": _PlanReader.aggregate,
    "CTERelationDef": _PlanReader.shared_rows,
    "Except": _PlanReader.except_rows,
    "Expand": _PlanReader.expand,
    "Generate": _PlanReader.generate,
    "Intersect": _PlanReader.set_operation,
    "Join": _PlanReader.join,
    "LateralJoin": _PlanReader.lateral_join,
    "Project": _PlanReader.project,
    "Union": _PlanReader.set_operation,
    "Window": _PlanReader.window,
}


def _added(
    rows: _Rows, found: dict[int, Origins], order: list[int], other: _Rows | None = None
) -> _Rows:
    """The rows with more columns."""
    known = rows.order is not None and (other is None or other.order is not None)
    rest = rows.rest if other is None else rows.rest | other.rest
    listed = [*(rows.order or ()), *order] if known else None
    return _Rows({**rows.columns, **found}, listed, rest, rows.decided)


def _values_of(tree: Tree) -> tuple[Tree, ...]:
    """Without what orders and partitions a window: that places rows, and makes no value."""
    return () if tree.kind == "WindowSpecDefinition" else tree.children
