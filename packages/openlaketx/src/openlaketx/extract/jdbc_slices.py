"""A large table in slices, so that several connections read it at once.

Each slice is a statement of its own: rows that move from one to another while they are read may
come twice or not at all. Without ``slices`` a table is one statement, and one state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from lakeguard_sdk.schema import decimal_size
from lakeguard_sdk.spelling import did_you_mean
from openlaketx.extract.jdbc_columns import SLICEABLE, DatabaseColumn, identifier, literal

SLICE = "lg_slice"
"""The slice column once more, as the database has it, so that its index serves."""
MOST_SLICES = 64
_SLICES = "4"


def slice_column(
    options: Mapping[str, str], columns: Iterable[DatabaseColumn]
) -> tuple[DatabaseColumn, int] | None:
    """The column to slice by and the number of slices; ValueError where they cannot be."""
    name, number = options.get("slice_by", ""), options.get("slices", _SLICES)
    if not name and "slices" in options:
        raise ValueError("slices needs slice_by, the column whose values are sliced")
    if not number.isdecimal() or not 1 <= int(number) <= MOST_SLICES:
        raise ValueError(f"slices is a number from 1 to {MOST_SLICES}, not {number!r}")
    if not name:
        return None
    known = {column.name: column for column in columns}
    if name not in known:
        raise ValueError(f"slice_by: there is no column {name!r}{did_you_mean(name, known)}")
    column = known[name]
    if column.type not in SLICEABLE and not decimal_size(column.type):
        raise ValueError(f"slice_by: column {name} is {column.sql_type}, which has no even slices")
    return column, int(number)


def bounds_query(column: DatabaseColumn, slices: int, rows: str) -> str:
    """The inner bounds between equal parts of the range; NULL where there is no value at all."""
    name = identifier(column.name)
    if column.type == "date":
        bound = f"low + (((high - low)::bigint * i) / {slices})::integer"
    elif column.type.startswith("timestamp"):
        bound = f"low + (high - low) * (i::double precision / {slices})"
    else:
        bound = f"floor(low::numeric + (high::numeric - low::numeric) * i / {slices})"
    ends = f"SELECT min({name}) AS low, max({name}) AS high {rows}"
    series = f"generate_series(1, {slices - 1}) i"
    return f"SELECT i, ({bound})::text AS bound FROM ({ends}) ends, {series}"  # noqa: S608 (quoted)


def predicates(column: DatabaseColumn, bounds: Iterable[str]) -> list[str]:
    """Every row is in exactly one: the first slice and the last are open, NULL is in the first."""
    inner = [f"{literal(bound)}::{column.sql_type}" for bound in bounds]
    if not inner:
        return []
    return [
        f"{SLICE} < {inner[0]} OR {SLICE} IS NULL",
        *(f"{SLICE} >= {low} AND {SLICE} < {high}" for low, high in pairwise(inner)),
        f"{SLICE} >= {inner[-1]}",
    ]
