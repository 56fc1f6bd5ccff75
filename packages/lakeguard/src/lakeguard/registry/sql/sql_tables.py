"""Checks the relations of a SELECT: parents, common table expressions or inline values only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from lakeguard.registry.sql.spark_functions import TABLE_FUNCTIONS
from lakeguard.registry.sql.sql_tokens import PINNED
from lakeguard.registry.sql.sql_words import foldings, same_in_spark
from lakeguard.registry.text.sql_lexing import SqlProblem
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import BadName

_RELATIONS = (exp.Table, exp.Subquery, exp.Values, exp.Lateral)
_TABLE_PARTS = frozenset(
    {"this", "db", "catalog", "alias", "pivots", "joins", "laterals", "sample"}
)
"""A sample is refused as such."""
_VERSIONED = re.compile(r"@(?:[vV]\d+|\d{17})$")
"""A version or time in the name of a Delta table."""
_USE_ALIAS = "; give the table an alias and use that"


def check_relations(
    root: exp.Expr, text: str, given: frozenset[str] = frozenset()
) -> Iterator[SqlProblem]:
    """Every relation that is not allowed."""
    for node in root.walk():
        match node:
            case exp.From() | exp.Join():
                if not isinstance(node.this, _RELATIONS):
                    yield SqlProblem("not a table, SELECT or VALUES", _start(node))
            case exp.Lateral(this=exp.Func() | exp.Subquery()):
                yield from _check_function(node.this)
            case exp.Lateral():
                yield SqlProblem("LATERAL needs a function or a SELECT", _start(node))
            case exp.Table():
                yield from _check_table(node, text, given)
            case exp.Column():
                yield from _check_column(node, root)


def reads_given(root: exp.Expr, given: frozenset[str]) -> bool:
    """Whether a given relation is read that is not shadowed by a common table expression."""
    return any(
        _is_given(table, given) and not _is_common_table(table)
        for table in root.find_all(exp.Table)
    )


def common_tables(root: exp.Expr) -> frozenset[str]:
    """Every name that Spark may find a common table expression by, folded."""
    return frozenset(name for cte in root.find_all(exp.CTE) for name in foldings(cte.alias))


def table_references(root: exp.Expr) -> list[exp.Table]:
    """Every ``layer.name`` that is read, in text order."""
    tables = [table for table in root.find_all(exp.Table) if _dataset(table) is not None]
    outside_hints = [table for table in tables if not table.find_ancestor(exp.Hint)]
    return sorted(outside_hints, key=lambda table: int(table.this.meta["start"]))


def _dataset(table: exp.Table) -> DatasetName | None:
    parts = (table.this, table.args.get("db"))
    if table.args.get("catalog") or not all(_is_placed(part) for part in parts):
        return None
    try:
        return DatasetName(f"{table.db}.{table.name}")
    except BadName:
        return None


def _is_placed(part: object) -> bool:
    return isinstance(part, exp.Identifier) and "start" in part.meta


def _check_table(table: exp.Table, text: str, given: frozenset[str]) -> Iterator[SqlProblem]:
    if table.find_ancestor(exp.Hint):
        # The parser counts offsets within a hint from its start.
        if table.args.get("db"):
            yield SqlProblem("use aliases in hints", text.find("/*+"), 3, _USE_ALIAS)
        return
    if isinstance(table.parent, exp.Into):
        return
    if isinstance(table.this, exp.Func):
        yield from _check_function(table.this)
        return
    extra = [key for key, value in table.args.items() if value and key not in _TABLE_PARTS]
    if extra:
        yield SqlProblem(f"{extra[0]} is not supported; {PINNED}", *_span(table))
    elif _VERSIONED.search(table.name):
        yield SqlProblem(f"{_spelled(table)} is not supported; {PINNED}", *_span(table))
    elif _is_string(table, text):
        yield SqlProblem("a string is not a table", *_span(table))
    elif _dataset(table) is None and not (_is_given(table, given) or _is_common_table(table)):
        yield SqlProblem(f"{_spelled(table)} is not a dataset; write layer.name", *_span(table))


def _check_function(node: object) -> Iterator[SqlProblem]:
    if not isinstance(node, exp.Func):
        return
    anonymous = isinstance(node, exp.Anonymous)
    name = node.name.lower() if anonymous else node.sql_name().lower()
    if name not in TABLE_FUNCTIONS:
        problem = f"{name[:80]}() is not a dataset; write layer.name"
        yield SqlProblem(problem, _start(node), len(name))


def _check_column(column: exp.Column, root: exp.Expr) -> Iterator[SqlProblem]:
    """``bronze.flights.delay`` would not resolve after its table is replaced."""
    parts = [part.name.lower() for part in column.parts]
    if len(parts) < 3:
        return
    read = {(table.db, table.name) for table in table_references(root)}
    if (parts[0], parts[1]) in read:
        problem = f"{parts[0]}.{parts[1]} cannot qualify a column"
        start = _start(column)
        yield SqlProblem(problem, start, len(".".join(parts[:2])), _USE_ALIAS)


def _is_given(table: exp.Table, given: frozenset[str]) -> bool:
    return not table.args.get("db") and table.name.casefold() in given


def _is_common_table(table: exp.Table) -> bool:
    """Whether an unqualified name is a visible common table expression, for Spark too."""
    if table.args.get("db"):
        return False
    node: exp.Expr = table
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.With):
            place = next(i for i, cte in enumerate(parent.expressions) if cte is node)
            own = 1 if parent.args.get("recursive") else 0
            visible = parent.expressions[: place + own]
            parent = parent.parent or parent
        else:
            clause = parent.args.get("with_")
            visible = clause.expressions if clause is not None else []
        if any(same_in_spark(cte.alias, table.name) for cte in visible):
            return True
        node = parent
    return False


def _is_string(table: exp.Table, text: str) -> bool:
    parts = [table.this, table.args.get("db"), table.args.get("catalog")]
    return any(
        isinstance(part, exp.Identifier) and text[int(part.meta.get("start", 0))] in "'\""
        for part in parts
    )


def _spelled(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)[:200]


def _span(table: exp.Table) -> tuple[int, int]:
    known = [each.meta for each in table.parts if "start" in each.meta]
    if not known:
        return 0, 1
    start = min(int(meta["start"]) for meta in known)
    return start, max(int(meta["end"]) for meta in known) + 1 - start


def _start(node: exp.Expr) -> int:
    known = [int(each.meta["start"]) for each in node.walk() if "start" in each.meta]
    return min(known, default=0)
