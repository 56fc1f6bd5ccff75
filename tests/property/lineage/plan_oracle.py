"""Column lineage as Spark's analysed plan shows it, read from the plan's JSON.

The plan is the authority: names, stars, joins and subqueries are resolved in it. The columns of a
view of an input carry their origin as metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyspark.sql import SparkSession

ORIGIN = "origin"
"""Key of the metadata of an input's column."""

Origins = frozenset[str]
Node = dict[str, Any]
Outputs = list[tuple[int, Origins]]
"""Expression id and origins of each column of a plan node, in order."""
NONE: Origins = frozenset()


class NotUnderstood(Exception):
    """The oracle does not know this kind of plan node."""


class NotShown(Exception):
    """Spark has no JSON for a part of the plan."""


def origins_of(spark: SparkSession, text: str) -> list[tuple[str, Origins]]:
    """Name and origins of each result column; an exception of Spark if the SQL is not valid."""
    frame = spark.sql(text)._jdf
    plan = frame.queryExecution().analyzed()
    names = [field["name"] for field in json.loads(frame.schema().json())["fields"]]
    outputs = _Plan().outputs(_tree(json.loads(plan.toJSON())), {})
    return list(zip(names, (origins for _, origins in outputs), strict=True))


def _tree(nodes: list[Node]) -> Node:
    """The tree of a list in which each node precedes its children."""
    waiting = iter(nodes)

    def taken() -> Node:
        node = dict(next(waiting))
        node["children"] = [taken() for _ in range(node["num-children"])]
        return node

    return taken()


def _kind(node: Node) -> str:
    return str(node["class"]).rpartition(".")[2]


def _trees(value: object) -> Iterator[Node]:
    """Trees in a field of a node: an expression or plan, or a list of them at any depth."""
    if isinstance(value, list):
        if value and isinstance(value[0], dict) and "num-children" in value[0]:
            yield _tree(value)
        else:
            for item in value:
                yield from _trees(item)


_SAME = {
    "Filter", "Sort", "GlobalLimit", "LocalLimit", "Offset", "Distinct", "SubqueryAlias",
    "ResolvedHint", "RepartitionByExpression", "Subquery", "CTERelationDef", "Deduplicate",
    "Sample", "RebalancePartitions", "Tail",
}  # fmt: skip
_LEAVES = {"LocalRelation", "LogicalRDD", "LogicalRelation", "Range"}
_SUBQUERIES = {"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery"}


class _Plan:
    def __init__(self) -> None:
        self._common: dict[int, Outputs] = {}

    def outputs(self, node: Node, outer: Mapping[int, Origins]) -> Outputs:
        kind, children = _kind(node), node["children"]
        if kind == "WithCTE":
            *definitions, last = children[1:] + children[:1] if _main_first(children) else children
            for definition in definitions:
                self._common[_cte_id(definition)] = self.outputs(definition, outer)
            return self.outputs(last, outer)
        if kind in ("CTERelationRef", "UnionLoopRef"):
            made = self._common[_cte_id(node)]
            return _renumbered(node["output"], [origins for _, origins in made])
        if kind in _LEAVES:
            return [(_id(tree["exprId"]), NONE) for tree in _each(node.get("output", []))]
        if kind == "OneRowRelation":
            return []
        if kind == "View":
            fields = node["desc"]["schema"]["fields"]
            columns = self.outputs(children[0], outer)
            return [(at, _declared(item)) for (at, _), item in zip(columns, fields, strict=True)]
        below = [self.outputs(child, outer) for child in children]
        return self._above(node, kind, below, outer)

    def _above(
        self, node: Node, kind: str, below: list[Outputs], outer: Mapping[int, Origins]
    ) -> Outputs:
        known = {**outer, **{key: origins for each in below for key, origins in each}}
        if kind in _SAME:
            return below[0]
        match kind:
            case "Project":
                return self._named(node["projectList"], known)
            case "Aggregate":
                return self._named(node["aggregateExpressions"], known)
            case "Window":
                return below[0] + self._named(node["windowExpressions"], known)
            case "Generate":
                (generator,) = _trees(node["generator"])
                made = self.origins(generator, known)
                return below[0] + [
                    (_id(tree["exprId"]), made) for tree in _trees(node["generatorOutput"])
                ]
            case "Expand":
                return self._expanded(node, known)
            case "Join":
                left_only = any(word in str(node["joinType"]) for word in ("LeftSemi", "LeftAnti"))
                return below[0] if left_only else below[0] + below[1]
            case "LateralJoin":
                (right,) = _trees(node["right"])
                (plan,) = _trees(right["plan"])
                return below[0] + self.outputs(plan, known)
            case "Union" | "Intersect":
                columns = zip(*below, strict=True)
                return [
                    (column[0][0], NONE.union(*(origins for _, origins in column)))
                    for column in columns
                ]
            case "Except":
                return below[0]
        raise NotUnderstood(kind)

    def _named(self, items: list[Any], known: Mapping[int, Origins]) -> Outputs:
        return [(_id(tree["exprId"]), self.origins(tree, known)) for tree in _each(items)]

    def _expanded(self, node: Node, known: Mapping[int, Origins]) -> Outputs:
        if node["projections"] is None:
            raise NotShown
        rows = [[self.origins(tree, known) for tree in _each(row)] for row in node["projections"]]
        merged = [NONE.union(*column) for column in zip(*rows, strict=True)]
        return _renumbered(node["output"], merged)

    def origins(self, node: Node, known: Mapping[int, Origins]) -> Origins:
        """What an expression is made of; what orders rows within a window is not."""
        kind = _kind(node)
        if kind == "AttributeReference":
            return known[_id(node["exprId"])]
        if kind == "OuterReference":
            return NONE.union(*(self.origins(tree, known) for tree in _trees(node["e"])))
        if kind == "WindowExpression":
            return self.origins(node["children"][0], known)
        found = NONE.union(*(self.origins(child, known) for child in node["children"]))
        if kind in _SUBQUERIES:
            for plan in _trees(node["plan"]):
                found |= self._read(plan, known)
        return found

    def _read(self, plan: Node, outer: Mapping[int, Origins]) -> Origins:
        """What a subquery shows, and what its filters and joins read."""
        shown = NONE.union(*(origins for _, origins in self.outputs(plan, outer)))
        return shown | self._filters(plan, outer)

    def _filters(self, plan: Node, outer: Mapping[int, Origins]) -> Origins:
        found = NONE
        for child in plan["children"]:
            found |= self._filters(child, outer)
        if _kind(plan) not in ("Filter", "Join"):
            return found
        known = dict(outer)
        for child in plan["children"]:
            known |= dict(self.outputs(child, outer))
        for tree in _trees(plan["condition"]):
            found |= self.origins(tree, known)
        return found


def _main_first(children: list[Node]) -> bool:
    return _kind(children[0]) != "CTERelationDef"


def _cte_id(node: Node) -> int:
    return int(node.get("cteId", node.get("id", node.get("loopId", 0))))


def _each(items: list[Any]) -> Iterator[Node]:
    for item in items:
        yield from _trees(item)


def _id(value: Any) -> int:
    return int(value["id"])


def _declared(field: Node) -> Origins:
    origin = field["metadata"].get(ORIGIN)
    return frozenset({origin}) if origin else NONE


def _renumbered(output: list[Any], origins: Iterable[Origins]) -> Outputs:
    return [(_id(tree["exprId"]), made) for tree, made in zip(_each(output), origins, strict=True)]
