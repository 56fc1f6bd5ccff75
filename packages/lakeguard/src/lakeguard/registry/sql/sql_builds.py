"""The SQL of a build: one SELECT over declared parents, and nothing else.

The text is parsed to be judged, never to be printed again: what runs is the text that was
written, with each table's name replaced where it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from lakeguard.registry.sql.sql_facts import SqlFacts
from lakeguard.registry.text.characters import place_of_offset
from lakeguard.registry.text.sql_lexing import SqlProblem, SqlRefused
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import BadSql, Place

BATCH = "batch"
"""What a transform calls the rows that were extracted."""


def check_sql(text: str, parents: Collection[DatasetName]) -> tuple[SqlProblem, ...]:
    """Everything that is wrong with the text as a build from ``parents``."""
    try:
        facts = _facts(text)
    except SqlRefused as refused:
        return (refused.problem,)
    strangers = [
        SqlProblem(
            f"{table.dataset} is not among the parents",
            table.start,
            table.end - table.start,
            did_you_mean(table.dataset, parents) or "; add it to parents",
        )
        for table in facts.tables
        if table.dataset not in parents
    ]
    return (*facts.problems, *strangers)


def check_transform(text: str) -> tuple[SqlProblem, ...]:
    """Everything that is wrong with the text as a SELECT over ``batch`` alone."""
    try:
        facts = _facts(text, frozenset({BATCH}))
    except SqlRefused as refused:
        return (refused.problem,)
    strangers = [
        SqlProblem(f"a transform reads {BATCH} alone", table.start, table.end - table.start)
        for table in facts.tables
    ]
    if not facts.problems and not strangers and not facts.reads_given:
        strangers = [SqlProblem(f"a transform reads {BATCH}", 0)]
    return (*facts.problems, *strangers)


def unread_parents(text: str, parents: Collection[DatasetName]) -> tuple[DatasetName, ...]:
    """Parents that the text never reads, in their order."""
    try:
        read = read_datasets(text)
    except SqlRefused:
        return ()
    return tuple(parent for parent in parents if parent not in read)


def read_datasets(text: str) -> frozenset[DatasetName]:
    """Every dataset that the text reads; SqlRefused if it cannot be read itself."""
    return frozenset(table.dataset for table in _facts(text).tables)


def combines_rows(text: str) -> bool:
    """Whether the text sets rows beside rows (UNION, EXCEPT, INTERSECT)."""
    try:
        return _facts(text).combines
    except SqlRefused:
        return False


def grows_row_by_row(text: str, parent: DatasetName) -> bool:
    """Whether more rows of ``parent`` only make more rows of the result."""
    try:
        return _facts(text).row_by_row == parent
    except SqlRefused:
        return False


def rewrite_tables(text: str, views: Mapping[DatasetName, str], file: str = "sql") -> str:
    """The same text reading each dataset from its view; every other character is kept.

    An unaliased table keeps its name as an alias, so that its columns can still be qualified.
    A closing semicolon is left out. BadSql for a text that ``check_sql`` would not pass.
    """
    problems = check_sql(text, frozenset(views))
    if problems:
        raise sql_error(file, text, problems[0])
    facts = _facts(text)
    taken = sorted(facts.common_tables & {view.casefold() for view in views.values()})
    if taken:
        problem = f"the name {taken[0]!r} is taken; rename the common table expression"
        raise sql_error(file, text, SqlProblem(problem, 0))
    pieces: list[str] = []
    at = 0
    for table in facts.tables:
        alias = "" if table.aliased else f" AS {_quoted(table.dataset.name)}"
        replaced = f"{_quoted(views[table.dataset])}{alias}"
        pieces += [text[at : table.start], _apart(text, table.start, table.end, replaced)]
        at = table.end
    end = len(text) if facts.semicolon is None else facts.semicolon
    return "".join([*pieces, text[at:end], text[end + 1 :]])


def _apart(text: str, start: int, end: int, replaced: str) -> str:
    """With a blank where a neighbour would join the quoted name."""
    before = " " if text[:start].endswith("`") else ""
    after = " " if text[end:].startswith("`") else ""
    return f"{before}{replaced}{after}"


def sql_error(file: str, text: str, found: SqlProblem) -> BadSql:
    """The problem as an error that stands in the SQL file."""
    line, column = place_of_offset(text, found.offset)
    rest_of_line = text[found.offset :].partition("\n")[0]
    length = max(1, min(found.length, len(rest_of_line)))
    place = Place(file=file, line=line, column=column, length=length)
    return BadSql(place, problem=found.problem, hint=found.hint)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@lru_cache(maxsize=4096)
def _facts(text: str, given: frozenset[str] = frozenset()) -> SqlFacts:
    # sqlglot takes a third of a second to import: only those who have SQL pay for it.
    from lakeguard.registry.sql.sql_parsing import read_sql

    return read_sql(text, given)
