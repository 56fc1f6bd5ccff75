"""Rules on texts: low cardinality, format, shape, length, surrounding blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from uuid import UUID

from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rule_types.texts import TEXT_KINDS
from lakeguard.insight.suggestions.low_cardinality import few_values
from lakeguard.insight.suggestions.rule_text import call, text
from lakeguard.insight.suggestions.suggestion import Draft, ProfileFacts, one_set
from lakeguard_sdk.model.profile import ColumnProfile

_SPECIFIC = ("email", "url", "uuid", "ipv4", "ipv6", "cidr", "iban", "mac", "phone")
"""Formats that do not match by chance; two capitals may be more than a country code."""
_DIFFERENT = 5
"""Minimum distinct texts for a format or shape."""
_UUID = 36
_LONGEST = 1_000
STRANGE = "\N{SECTION SIGN}"
"""A text that matches no format and no drafted shape."""


def texts(column: ColumnProfile, facts: ProfileFacts) -> Iterator[Draft]:
    """One rule on the values, and one on blanks if not implied."""
    values = facts.rows - column.nulls
    if not values:
        return
    found = few_values(column, values) or _kind(column, values) or _shape(column, values)
    if found is not None:
        yield found
        return
    yield from _length(column, values)
    yield from _trimmed(column, values)


def _kind(column: ColumnProfile, values: int) -> Draft | None:
    """``format`` if all known texts have one."""
    known = _known_texts(column)
    if (column.distinct or 0) < _DIFFERENT or not known:
        return None
    for word in _SPECIFIC:
        if all(re.fullmatch(TEXT_KINDS[word].pattern, value) for value in known):
            meaning = TEXT_KINDS[word].meaning
            return Draft(
                rule=call("format", column.column, kind=text(word)),
                column=column.column,
                about="values",
                why=f"each of {values:,} texts is {meaning}",
                support=values,
                strength=0.9,
                mutation=one_set(column, STRANGE),
            )
    return None


def _known_texts(column: ColumnProfile) -> list[str]:
    """Texts of the column, or their patterns, which match the same format if it depends on form
    only. If all texts are distinct, only lengths are known."""
    found = [item.value for item in column.top or column.patterns if item.value is not None]
    if not found and column.lengths is not None and column.lengths[:2] == (_UUID, _UUID):
        return [str(UUID(int=0))]
    return found


def _shape(column: ColumnProfile, values: int) -> Draft | None:
    """``regex`` if all texts have one to three shapes."""
    patterns = [item for item in column.patterns if item.value is not None]
    complete = sum(item.rows for item in patterns) == values
    if not complete or (column.distinct or 0) < _DIFFERENT:
        return None
    pattern = shape_of([item.value or "" for item in patterns])
    if pattern is None:
        return None
    return Draft(
        rule=call("regex", column.column, pattern=text(pattern)),
        column=column.column,
        about="values",
        why=f"{values:,} texts have this shape",
        support=values,
        strength=0.8,
        mutation=one_set(column, STRANGE),
    )


def _length(column: ColumnProfile, values: int) -> Iterator[Draft]:
    """Exact length if constant; else non-empty and up to twice the maximum."""
    if column.lengths is None:
        return
    shortest, longest, _ = column.lengths
    if longest > _LONGEST or not longest:
        return
    one = shortest == longest
    most = longest if one else 2 * longest
    bounds = {"max": str(most)}
    if shortest:
        bounds = {"min": str(shortest if one else 1), **bounds}
    has = f"{longest} characters" if one else f"{shortest} to {longest} characters"
    more = "" if one else ", and twice the longest is allowed"
    yield Draft(
        rule=call("length", column.column, **bounds),
        column=column.column,
        about="values",
        why=f"{values:,} texts have {has}{more}",
        support=values,
        strength=0.75 if one else 0.65,
        mutation=one_set(column, "x" * (most + 1)),
    )


def _trimmed(column: ColumnProfile, values: int) -> Iterator[Draft]:
    name = column_text(column.column)
    yield Draft(
        rule=f"sql_row(trim({name}) = {name})",
        about=f"blanks {column.column}",
        why=f"none of {values:,} texts begins or ends with a blank",
        support=values,
        strength=0.6,
        mutation=one_set(column, " x"),
    )


# Derives one regular expression from text patterns.

_CLASSES = {"A": "[A-Z]", "a": "[a-z]", "9": "[0-9]"}
_PLAIN = frozenset(" _:/,@#%&=;<>~\"'!-")
_SHAPES = 3
_LONGEST_RUN = 50
_LONGEST_TEXT = 100


@dataclass(frozen=True)
class Part:
    """A character class with repetition."""

    sign: str
    least: int
    most: int

    @property
    def pattern(self) -> str:
        one = _CLASSES.get(self.sign) or self._literal()
        if self.least == self.most:
            return one if self.least == 1 else f"{one}{{{self.least}}}"
        if (self.least, self.most) == (0, 1):
            return f"{one}?"
        return f"{one}{{{self.least},{self.most}}}"

    def _literal(self) -> str:
        return self.sign if self.sign in _PLAIN else f"\\x{ord(self.sign):02X}"


def shape_of(patterns: Sequence[str]) -> str | None:
    """None if there is no common shape, or only a vague one."""
    if not patterns or not all(_is_plain(pattern) for pattern in patterns):
        return None
    shapes: list[tuple[Part, ...]] = []
    for pattern in sorted(patterns, key=lambda text: (-len(text), text)):
        runs = [(sign, len(list(group))) for sign, group in groupby(pattern)]
        _take(shapes, tuple(Part(sign, count, count) for sign, count in runs))
    if len(shapes) > _SHAPES or any(_is_vague(shape) for shape in shapes):
        return None
    texts = ["".join(part.pattern for part in shape) for shape in shapes]
    return texts[0] if len(texts) == 1 else f"(?:{'|'.join(texts)})"


def _is_plain(pattern: str) -> bool:
    return 0 < len(pattern) <= _LONGEST_TEXT and pattern.isascii() and pattern.isprintable()


def _take(shapes: list[tuple[Part, ...]], new: tuple[Part, ...]) -> None:
    """Widen the first shape that is a prefix of it or vice versa; else add a shape."""
    for at, shape in enumerate(shapes):
        pairs = list(zip(shape, new, strict=False))
        if all(one.sign == other.sign for one, other in pairs):
            shapes[at] = tuple(
                _either(one, other) for one, other in zip_longest(shape, new, fillvalue=None)
            )
            return
    shapes.append(new)


def _either(one: Part | None, other: Part | None) -> Part:
    """A shape that matches both; optional where one has ended."""
    if one is None or other is None:
        present = one or other
        assert present is not None  # noqa: S101 - a promise to the type checker
        return Part(present.sign, 0, present.most)
    return Part(one.sign, min(one.least, other.least), max(one.most, other.most))


def _is_vague(shape: tuple[Part, ...]) -> bool:
    words = any(part.least < part.most for part in shape)
    letters = all(part.sign in "aA" for part in shape) and (words or len(shape) > 1)
    return letters or any(part.most > _LONGEST_RUN for part in shape)
