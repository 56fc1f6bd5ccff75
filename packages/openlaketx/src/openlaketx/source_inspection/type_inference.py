"""Infers the type of a text column: the narrowest candidate that every value fits.

A text fits a type if the casts of a run accept it, so that the proposal can be loaded. Candidates
are boolean, integer, long, decimal, double, date, timestamp_ntz, timestamp and string. Bytes and
shorts are not: a sample cannot show that the range is that small. For the same reason decimals get
18 or 38 digits. Values that a type would change stay strings: leading zeros, or a plus sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from openlaketx.source_inspection.sample_rows import SampleRows

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
_FLOAT = r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_ZONE = r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"
_IS_DATE = "v[1:4] <> '0000' AND try_cast(v[1:10] AS DATE) IS NOT NULL"
_INSIDE = r"(v[1:4] NOT IN ('0001', '9999') OR NOT regexp_matches(v, '[+-][0-9]{2}:[0-9]{2}$'))"
"""A UTC offset can move a time out of the years 1 to 9999."""
_UNPADDED = r"NOT regexp_matches(v, '^-?0[0-9]')"

SPELT = {
    "boolean": "regexp_full_match(v, '(?i)true|false')",
    "whole": f"regexp_full_match(v, '-?[0-9]+') AND {_UNPADDED}",
    "point": rf"regexp_full_match(v, '-?([0-9]+(\.[0-9]*)?|\.[0-9]+)') AND {_UNPADDED}",
    "float": f"regexp_full_match(v, '{_FLOAT}') AND {_UNPADDED} AND"
    " coalesce(isfinite(try_cast(v AS DOUBLE)), false)",
    "date": f"regexp_full_match(v, '{_DATE}') AND {_IS_DATE}",
    "local": f"regexp_full_match(v, '{_DATE}{_TIME}') AND {_IS_DATE}",
    "moment": f"regexp_full_match(v, '{_DATE}{_TIME}{_ZONE}?') AND {_IS_DATE} AND {_INSIDE}",
}
"""Candidate types, each with its condition on a non-empty text ``v``."""

NUMBERS = ("whole", "point", "float")
_FIRST_LOOK = 2_000
_LONGEST_SCALE = 6
_LONG = 2**63
_INTEGER = 2**31


@dataclass(frozen=True)
class TextFacts:
    """Common facts about the values of one column."""

    filled: int
    kinds: frozenset[str]
    least: int = 0
    most: int = 0
    digits: int = 0
    """Maximum digits before the point."""
    scale: int = 0

    @property
    def type(self) -> str:
        if not self.filled:
            return "string"
        for kind, data_type in (("boolean", "boolean"), ("date", "date")):
            if kind in self.kinds:
                return data_type
        if "local" in self.kinds:
            return "timestamp_ntz"
        return "timestamp" if "moment" in self.kinds else self._number()

    def _number(self) -> str:
        if "whole" in self.kinds:
            return self._whole()
        if "point" in self.kinds and self.scale <= _LONGEST_SCALE:
            if self.digits + self.scale <= 18:
                return f"decimal(18,{self.scale})"
            if self.digits + self.scale <= 38:
                return f"decimal(38,{self.scale})"
        return "double" if "float" in self.kinds else "string"

    def _whole(self) -> str:
        if self.digits <= 19 and self.least >= -_LONG and self.most < _LONG:
            small = self.least >= -_INTEGER and self.most < _INTEGER
            return "integer" if small else "long"
        return "decimal(38,0)" if self.digits <= 38 else "string"


def text_facts(
    rows: SampleRows,
    column: int,
    null_marks: Sequence[str] = (),
    kinds: tuple[str, ...] = tuple(SPELT),
) -> TextFacts:
    """Of the values that are not NULL, empty or one of ``null_marks``.

    A short first scan rules out most types, so that the full scan tests few.
    """
    some = _facts(rows, column, null_marks, kinds, _FIRST_LOOK)
    return _facts(rows, column, null_marks, tuple(sorted(some.kinds)), None)


def _facts(
    rows: SampleRows,
    column: int,
    null_marks: Sequence[str],
    kinds: tuple[str, ...],
    limit: int | None,
) -> TextFacts:
    bounded = f"LIMIT {limit:d}" if limit else ""
    values = f"SELECT c{column:d} AS v FROM seen WHERE v NOT IN $nulls {bounded}"  # noqa: S608
    asked = [f"coalesce(bool_and({SPELT[kind]}), true)" for kind in kinds]
    query = f"SELECT count(*), {', '.join([*asked, *_SIZES])} FROM ({values})"  # noqa: S608
    filled, *results = rows.ask(query, {"nulls": ["", *null_marks]})[0]
    spelt = frozenset(kind for kind, whether in zip(kinds, results, strict=False) if whether)
    return TextFacts(int(filled), spelt, *(_size(value) for value in results[len(kinds) :]))


_SIZES = (
    "min(try_cast(v AS HUGEINT))",
    "max(try_cast(v AS HUGEINT))",
    r"max(length(regexp_extract(v, '^-?([0-9]*)', 1)))",
    r"max(length(regexp_extract(v, '\.([0-9]*)$', 1)))",
)


def _size(value: Any) -> int:
    return 0 if value is None else int(value)


# Text columns and their inferred facts.

NULL_MARKS = ("NA", "N/A", "n/a", "#N/A", "NULL", "Null", "null", "(null)", "None", "none", "nil",
              "\\N", "-", "--", "?")  # fmt: skip
"""Texts that many programs write for a missing value."""


@dataclass(frozen=True)
class TextTable:
    """Raw texts of files; ``offered`` are the candidate types of each column."""

    names: tuple[str, ...]
    whole: bool
    options: dict[str, str] = field(default_factory=dict)
    offered: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def facts(self, rows: SampleRows, null_marks: Sequence[str] = ()) -> list[TextFacts]:
        return [self._of(rows, index, null_marks) for index in range(len(self.names))]

    def _of(self, rows: SampleRows, index: int, null_marks: Sequence[str]) -> TextFacts:
        return text_facts(rows, index, null_marks, self.offered.get(index, tuple(SPELT)))

    def nulls(self, rows: SampleRows, facts: Sequence[TextFacts]) -> list[int]:
        """Missing values per column; in a column of texts, an empty text is one."""
        return [
            rows.count - fact.filled - (_empty(rows, index) if fact.type == "string" else 0)
            for index, fact in enumerate(facts)
        ]

    def null_marks(self, rows: SampleRows, facts: Sequence[TextFacts]) -> list[str]:
        """The texts that hide the type of a column: all others in it are of one type."""
        found: set[str] = set()
        for index, fact in enumerate(facts):
            if fact.type != "string" or not fact.filled:
                continue
            marks = _present(rows, index)
            if marks and self._of(rows, index, marks).type != "string":
                found.update(marks)
        return [mark for mark in NULL_MARKS if mark in found]


def _empty(rows: SampleRows, index: int) -> int:
    query = f"SELECT count(*) FROM seen WHERE c{index:d} = ''"  # noqa: S608 - a number
    return int(rows.ask(query)[0][0])


def _present(rows: SampleRows, index: int) -> list[str]:
    query = f"SELECT DISTINCT c{index:d} FROM seen WHERE c{index:d} IN $marks"  # noqa: S608
    return [str(row[0]) for row in rows.ask(query, {"marks": list(NULL_MARKS)})]
