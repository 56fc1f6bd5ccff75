"""Writes the same rows in every supported format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal

from hypothesis import strategies as st

from lakeguard.registry.rows import Value
from lakeguard.registry.text.characters import forbidden_character

Table = tuple[str, list[str], list[list[Value]]]
"""Name, columns and rows, all of them of one file."""

HOSTILE = "';\"`[](),-/*\\$\n\t{}#:=!GO NULL"
TEXTS = st.text(
    st.one_of(st.sampled_from(HOSTILE), st.characters(exclude_categories=["Cs", "Cc"])),
    max_size=12,
).filter(lambda text: forbidden_character(text) is None)
VALUES: st.SearchStrategy[Value] = st.one_of(
    TEXTS, st.integers(), st.integers(-(10**60), 10**60), st.booleans(), st.none(), st.decimals(
        allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9
    )
)  # fmt: skip
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
COMMENTS = st.sampled_from(
    ["", " ", "\n", "\r\n", "\t", " -- it's; a \"comment\n", "/* ' ; /* nested -- */ \" */",
     "/**/", "--\n", " /* GO */ "]
)  # fmt: skip
SPACES = st.sampled_from(["", " ", "\n", "\r\n\t"])
SCHEMAS = st.sampled_from(
    ["", "dbo.", '"My ""Schema""".', "[a]]b.c].", "`x``y`.", "${schema}.", "lake.dbo.",
     "[lake].[dbo].", "${env}_meta ."]
)  # fmt: skip
BETWEEN = st.sampled_from(
    [";", " ;;\n", "\nGO\n", "\n", ";\nSET NOCOUNT ON\n", ";USE x;", ";BEGIN;"]
)

WRAPPINGS = st.sampled_from(
    [("", ""), ("CAST(", " AS varchar(9))"), ("cast( ", "\nas double precision )"),
     ("", "::numeric(3, 1)"), ("", " :: text :: meta.x")]
)  # fmt: skip


@st.composite
def tables(
    draw: st.DrawFn, *, min_columns: int = 1, values: st.SearchStrategy[Value] = VALUES
) -> Table:
    names = draw(st.lists(NAMES, min_size=min_columns, max_size=5, unique=True))
    row = st.lists(values, min_size=len(names), max_size=len(names))
    return draw(NAMES), names, draw(st.lists(row, min_size=1, max_size=4))


def keyword(draw: st.DrawFn, word: str) -> str:
    return draw(st.sampled_from([word, word.lower(), word.title()]))


def sql_name(draw: st.DrawFn, name: str) -> str:
    cased = draw(st.sampled_from([name, name.upper(), name.title()]))
    return draw(st.sampled_from([f'"{cased}"', f"[{cased}]", f"`{cased}`"]))


def sql_value(draw: st.DrawFn, value: Value) -> str:
    if value is None or isinstance(value, bool):
        written = keyword(draw, "NULL" if value is None else str(value).upper())
    elif isinstance(value, str):
        prefix = draw(st.sampled_from(["", "N", "" if "\\" in value else "E"]))
        written = prefix + "'" + value.replace("'", "''") + "'"
    else:
        written = f"{value:f}" if not isinstance(value, int) else str(value)
    before, after = draw(WRAPPINGS)
    return f"{before}{written}{after}"


@st.composite
def sql_files(draw: st.DrawFn, written: Sequence[Table]) -> str:
    """One insert for each table, with any comments between any two words."""

    def listed(items: Iterable[str]) -> str:
        return ",".join(f"{draw(COMMENTS)}{item}{draw(COMMENTS)}" for item in items)

    parts = [draw(COMMENTS)]
    for name, columns, rows in written:
        columns_said = listed(sql_name(draw, column) for column in columns)
        rows_said = listed(f"({listed(sql_value(draw, v) for v in row)})" for row in rows)
        target = f"{draw(SCHEMAS)}{sql_name(draw, name)}{draw(COMMENTS)}({columns_said})"
        words = [keyword(draw, "INSERT"), keyword(draw, "INTO"), target, keyword(draw, "VALUES")]
        parts += [f" {draw(COMMENTS)}".join([*words, rows_said]), draw(BETWEEN)]
    return "".join(parts)


@st.composite
def csv_files(draw: st.DrawFn, table: Table) -> str:
    _, columns, rows = table
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [[name.upper() for name in columns], *rows]
    output = end.join(",".join(csv_cell(draw, value) for value in line) for line in lines)
    return (
        draw(st.sampled_from(["", "\ufeff"])) + output + draw(st.sampled_from(["", end, end * 2]))
    )


def csv_cell(draw: st.DrawFn, value: Value) -> str:
    if value is None:
        return ""
    text = csv_text(value) or ""
    if text and not set(text) & set('",\n') and draw(st.booleans()):
        return text
    return '"' + text.replace('"', '""') + '"'


def csv_text(value: Value) -> str | None:
    """What is left of a value in a file that knows text alone."""
    return None if value is None else str(value)


@st.composite
def json_values(draw: st.DrawFn, rows: Sequence[dict[str, Value]]) -> str:
    """Decimals are written by hand: the library would round them."""
    given = []
    for row in rows:
        cells = [f"{json_text(draw, name)}:{json_value(draw, v)}" for name, v in row.items()]
        given.append("{" + f"{draw(SPACES)},{draw(SPACES)}".join(cells) + "}")
    return f"[{draw(SPACES)}{f'{draw(SPACES)},'.join(given)}{draw(SPACES)}]"


def json_value(draw: st.DrawFn, value: Value) -> str:
    if isinstance(value, str):
        return json_text(draw, value)
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def json_text(draw: st.DrawFn, text: str) -> str:
    return json.dumps(text, ensure_ascii=draw(st.booleans()))
