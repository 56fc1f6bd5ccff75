"""Checks SQL builds: one SELECT over declared parents, and nothing else.

The parsed tree is used for checks only, never to generate SQL: the original text runs, with
table names and the current time replaced in place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from lakeguard.registry.sql.spark_functions import CLOCKS
from lakeguard.registry.sql.sql_facts import KnownTable, SqlFacts
from lakeguard.registry.text.characters import place_of_offset
from lakeguard.registry.text.sql_lexing import SqlProblem, SqlRefused
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import BadSql, Place
from lakeguard_sdk.model.run import RUN_TIME

BATCH = "batch"
"""The name of the extracted rows in a transform."""
_RUN_TIMES = {
    "TIMESTAMP": f":{RUN_TIME}",
    "DATE": f"CAST(:{RUN_TIME} AS DATE)",
    "TIMESTAMP_NTZ": f"CAST(:{RUN_TIME} AS TIMESTAMP_NTZ)",
    "BIGINT": f"UNIX_SECONDS(:{RUN_TIME})",
}
"""The time of the run by type. Its value is bound by Spark, and never part of the text."""


def check_sql(
    text: str, parents: Collection[DatasetName], columns: Collection[str] | None = ()
) -> tuple[SqlProblem, ...]:
    """Every problem of the SQL as a build from ``parents``.

    ``columns`` are those of the parents, for fields of a struct and a bare ``user``; None if they
    are not known.
    """
    try:
        facts = _facts(text)
    except SqlRefused as refused:
        return (refused.problem,)
    foreign = [
        SqlProblem(
            f"{table.dataset} is not a declared parent",
            table.start,
            table.end - table.start,
            did_you_mean(table.dataset, parents) or "; add it to parents",
        )
        for table in facts.tables
        if table.dataset not in parents
    ]
    known = None if columns is None else {column.casefold() for column in columns}
    unknown = [found for name, found in facts.undeclared if known is not None and name not in known]
    return (*facts.problems, *unknown, *foreign)


def check_columns(text: str, tables: Mapping[DatasetName, KnownTable]) -> tuple[SqlProblem, ...]:
    """Every name that is certainly no column of ``tables``, which it reads."""
    if all(table.has_more for table in tables.values()):
        return ()
    # Imported lazily: sqlglot takes 0.3 s to import.
    from lakeguard.registry.sql.lineage import missing_columns

    return tuple(
        SqlProblem(
            f"{item.name!r} is not a column of {item.qualifier or 'what this SELECT reads'}",
            item.start,
            item.length,
            did_you_mean(item.name, item.options),
        )
        for item in missing_columns(text, tables)
    )


def check_transform(text: str) -> tuple[SqlProblem, ...]:
    """Every problem of the SQL as a SELECT over ``batch`` only.

    Its columns are those of whatever source is read, so ``info.email`` may be a field of one.
    """
    try:
        facts = _facts(text, frozenset({BATCH}))
    except SqlRefused as refused:
        return (refused.problem,)
    foreign = [
        SqlProblem(f"a transform may only read {BATCH}", table.start, table.end - table.start)
        for table in facts.tables
    ]
    if not facts.problems and not foreign and not facts.reads_given:
        foreign = [SqlProblem(f"a transform must read {BATCH}", 0)]
    return (*facts.problems, *foreign)


def unread_parents(text: str, parents: Collection[DatasetName]) -> tuple[DatasetName, ...]:
    """Declared parents that the SQL does not read, in order."""
    try:
        read = read_datasets(text)
    except SqlRefused:
        return ()
    return tuple(parent for parent in parents if parent not in read)


def read_datasets(text: str) -> frozenset[DatasetName]:
    """Every dataset that the SQL reads; SqlRefused if it cannot be parsed."""
    return frozenset(table.dataset for table in _facts(text).tables)


def parameters_of(text: str) -> tuple[str, ...]:
    """Names of the ``:name`` parameters of the SQL."""
    try:
        return _facts(text).parameters
    except SqlRefused:
        return ()


def combines_rows(text: str) -> bool:
    """Whether the SQL has a set operation (UNION, EXCEPT, INTERSECT)."""
    try:
        return _facts(text).combines
    except SqlRefused:
        return False


def grows_row_by_row(text: str, parent: DatasetName) -> bool:
    """Whether new rows of ``parent`` only add rows to the result."""
    try:
        return _facts(text).row_by_row == parent
    except SqlRefused:
        return False


def rewrite_tables(
    text: str,
    views: Mapping[DatasetName, str],
    file: str = "sql",
    columns: Collection[str] = (),
) -> str:
    """The SQL with each dataset replaced by its view, and the current time by the parameter
    ``RUN_TIME``; all other characters are unchanged.

    A table without alias gets its name as alias, so qualified columns still resolve. A closing
    semicolon is removed. ``columns`` are those of the datasets: a bare ``current_date`` among them
    is a column, and so is ``info`` in ``info.email``. BadSql if ``check_sql`` would refuse the SQL.
    """
    problems = check_sql(text, frozenset(views), columns)
    if problems:
        raise sql_error(file, text, problems[0])
    facts = _facts(text)
    taken = sorted(facts.common_tables & {view.casefold() for view in views.values()})
    if taken:
        problem = f"the name {taken[0]!r} is taken; rename the common table expression"
        raise sql_error(file, text, SqlProblem(problem, 0))
    replaced = {}
    for table in facts.tables:
        alias = "" if table.aliased else f" AS {_quoted(table.dataset.name)}"
        replaced[table.start, table.end] = f"{_quoted(views[table.dataset])}{alias}"
    return _replace(text, facts, replaced, {column.casefold() for column in columns})


def rewrite_transform(text: str) -> str:
    """The SQL of a transform with the current time replaced by the parameter ``RUN_TIME``."""
    return _replace(text, _facts(text, frozenset({BATCH})), {}) if text else ""


def _replace(
    text: str,
    facts: SqlFacts,
    replaced: Mapping[tuple[int, int], str],
    columns: Collection[str] = (),
) -> str:
    spans = dict(replaced)
    for found in facts.run_times:
        if not (found.bare and found.function in columns):
            spans[found.start, found.end] = _RUN_TIMES[CLOCKS[found.function]]
    end = len(text) if facts.semicolon is None else facts.semicolon
    pieces: list[str] = []
    at = 0
    for (start, stop), piece in sorted(spans.items()):
        pieces += [text[at:start], _apart(text, start, stop, piece)]
        at = stop
    return "".join([*pieces, text[at:end], text[end + 1 :]])


def _apart(text: str, start: int, end: int, replaced: str) -> str:
    """Add spaces where an adjacent backtick would merge with the quoted name."""
    before = " " if text[:start].endswith("`") else ""
    after = " " if text[end:].startswith("`") else ""
    return f"{before}{replaced}{after}"


def sql_error(file: str, text: str, found: SqlProblem) -> BadSql:
    """The problem as an error in the SQL file."""
    line, column = place_of_offset(text, found.offset)
    rest_of_line = text[found.offset :].partition("\n")[0]
    length = max(1, min(found.length, len(rest_of_line)))
    place = Place(file=file, line=line, column=column, length=length)
    return BadSql(place, problem=found.problem, hint=found.hint)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@lru_cache(maxsize=4096)
def _facts(text: str, given: frozenset[str] = frozenset()) -> SqlFacts:
    # Imported lazily: sqlglot takes 0.3 s to import.
    from lakeguard.registry.sql.sql_parsing import read_sql

    return read_sql(text, given)
