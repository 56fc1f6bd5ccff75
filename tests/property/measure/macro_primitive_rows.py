"""What the reference says of rules that look at each row by itself, in plain Python."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.property.measure.macro_number_cases import NUMBERS, TIMES
from tests.property.measure.macro_oracle import Good, Oracle, each, every_row, name, pair
from tests.property.measure.macro_rows import CLOCK, DAY, ONE_OF_EACH, TYPES
from tests.property.measure.macro_text_cases import SHAPES
from tests.property.measure.written_values import reads_as, written_day

_RELATIONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
_SIGNS = {"=": "eq", "<>": "ne", ">": "gt", ">=": "ge", "<": "lt", "<=": "le"}
_MOMENT = "2013-12-31T10:00:00"
_TENTH = struct.unpack("f", struct.pack("f", 0.1))[0]
_LITERALS: dict[str, list[tuple[str, Any]]] = {
    **{c: [("3", 3)] for c in ("b", "h", "i", "order id")},
    "f": [("0", 0.0), ("0.1", _TENTH)],
    "d": [("0", 0.0), ("0.1", 0.1)],
    "small": [("0.01", Decimal("0.01"))],
    "wide": [("0.000000000000000001", Decimal("1e-18"))],
    "s": [("'a'", b"a"), ("'ß'", "ß".encode())],
    "day": [("'2013-12-31'", CLOCK // DAY)],
    "at": [(f"'{_MOMENT}Z'", CLOCK), ("'2013-12-31T15:30:00+05:30'", CLOCK)],
    "local": [(f"'{_MOMENT}'", CLOCK)],
}
_CASTS = ["byte", "integer", "long", "double", "decimal(5,2)", "boolean", "date", "timestamp"]
_FORMATS = ["dd/MM/yyyy", "yyyyMMdd", "yyyy-MM-dd", "dd/MM/yyyy HH:mm", "yyyy-MM-dd HH:mm:ss"]


def _plain(value: Any) -> Any:
    """Texts are in the order of their bytes."""
    return value.encode() if isinstance(value, str) else value


def _relation(word: str, literal: Any) -> Good:
    """NaN stands in no relation to anything."""
    holds = _RELATIONS[word]
    return lambda value: value == value and holds(_plain(value), literal)


def _columns(word: str) -> Callable[[Any, Any], bool]:
    holds = _RELATIONS[word]
    return lambda one, other: one == one and other == other and holds(_plain(one), _plain(other))


def _about(word: str, tolerance: Fraction) -> Callable[[Any, Any], bool]:
    """The relation, or missed by as much as the tolerance; equal infinities need none."""

    def good(one: Any, other: Any) -> bool:
        if one != one or other != other:
            return False
        if _RELATIONS[word](one, other):
            return True
        if not (math.isfinite(one) and math.isfinite(other)):
            return False
        floating = isinstance(one, float) or isinstance(other, float)
        apart = abs(one - other) if floating else abs(Fraction(one) - Fraction(other))
        return bool(apart <= tolerance)

    return good


def _between(low: Any, high: Any) -> Good:
    return lambda value: low <= value <= high


def _elements(good: Good) -> Good:
    return lambda items: all(good(item) for item in items if item is not None)


def _has_keys(items: list[tuple[str, Any]]) -> bool:
    return {"k0"} <= {key for key, _ in items} <= {"k0", "k1"}


def _small_letters(text: str) -> bool:
    return text != "" and all("a" <= char <= "z" for char in text)


def _short(text: str) -> bool:
    return len(text) <= 2


_LIKE: dict[str, Good] = {
    "a%": lambda text: text.startswith("a"),
    "%!%%": lambda text: "%" in text,
    "_": lambda text: len(text) == 1,
    "%é%": lambda text: "é" in text,
}
_PAIRS = [("i", "j"), ("i", "order id"), ("small", "cents"), ("f", "d"), ("d", "e"), ("s", "t")]
_PAIRS += [("day", "till"), ("at", "done"), ("local", "ended")]
ROW_PRIMITIVES: dict[str, Oracle] = {
    **{f"not_null({name(c)})": every_row(lambda row, c=c: row[c] is not None) for c in ONE_OF_EACH},
    **{f"null({name(c)})": every_row(lambda row, c=c: row[c] is None) for c in ONE_OF_EACH},
    **{
        f"{word}({name(c)}, {text})": each(c, _relation(word, literal))
        for c, literals in _LITERALS.items()
        for text, literal in literals
        for word in _RELATIONS
    },
    "eq(yes, true)": each("yes", lambda flag: flag is True),
    "ne(yes, true)": each("yes", lambda flag: flag is False),
    **{f"range({name(c)}, min=-2.5, max=7)": each(c, _between(-2.5, 7)) for c in NUMBERS},
    **{
        f"not_range({name(c)}, min=-2.5, max=7)": each(c, lambda value: not -2.5 <= value <= 7)
        for c in NUMBERS
    },
    "range(day, min='2013-12-30', max='2014-01-01')": each("day", _between(16_069, 16_071)),
    f"range(at, max='{_MOMENT}Z')": each("at", lambda value: value <= CLOCK),
    f"not_range(local, min='1970-01-01T00:00:00', max='{_MOMENT}')": each(
        "local", lambda value: not 0 <= value <= CLOCK
    ),
    "length(s, min=1, max=3)": each("s", lambda text: 1 <= len(text) <= 3),
    "in_set(s, ['a', 'ß', 'it''s', ''])": each("s", lambda text: text in ("a", "ß", "it's", "")),
    "not_in_set(s, ['a', 'ß', ''])": each("s", lambda text: text not in ("a", "ß", "")),
    "in_set(d, [0, 1.5])": each("d", lambda value: value in (0, 1.5)),
    "not_in_set(d, [0, 1.5])": each("d", lambda value: value not in (0, 1.5)),
    "in_set(day, ['2013-12-31', '1970-01-01'])": each("day", lambda value: value in (16_070, 0)),
    "in_set(yes, [true])": each("yes", lambda flag: flag is True),
    "regex(s, '[a-z]+')": each("s", _small_letters),
    "not_regex(s, '[^\\n]*')": each("s", lambda text: "\n" in text),
    **{f"like(s, '{pattern}')": each("s", good) for pattern, good in _LIKE.items()},
    **{
        f"castable(s, '{kind}')": each("s", lambda text, kind=kind: reads_as(text, kind))
        for kind in _CASTS
    },
    **{
        f"date_format(s, '{form}')": each("s", lambda text, form=form: written_day(text, form))
        for form in _FORMATS
    },
    **{f"format({kind}, kind='{kind}')": each(kind, shape) for kind, shape in SHAPES.items()},
    "case(s, letters='upper')": each("s", lambda text: not any("a" <= c <= "z" for c in text)),
    "case(s, letters='lower')": each("s", lambda text: not any("A" <= c <= "Z" for c in text)),
    **{
        f"compare({name(one)} {sign} {name(other)})": pair(one, other, _columns(word))
        for one, other in _PAIRS
        for sign, word in _SIGNS.items()
    },
    **{
        f"compare({name(one)} {sign} {name(other)}, tolerance=0.5)": pair(
            one, other, _about(word, Fraction(1, 2))
        )
        for one, other in (("small", "cents"), ("d", "e"), ("f", "d"))
        for sign, word in (("=", "eq"), ("<=", "le"), (">=", "ge"))
    },
    "array_size(tags, min=1, max=2)": each("tags", lambda items: 1 <= len(items) <= 2),
    "array_size(counts, max=1)": each("counts", lambda items: len(items) <= 1),
    "array_elements(nums, value % 2 = 1)": each("nums", _elements(lambda n: math.fmod(n, 2) == 1)),
    "array_elements(tags, length(value) <= 2)": each("tags", _elements(_short)),
    "map_keys(counts, allowed=['k0', 'k1'], required=['k0'])": each("counts", _has_keys),
    "sql_row(place.geo.lat >= 0 or s = 'a')": every_row(
        lambda row: (
            row["s"] in (None, "a")
            or (place := row["place"] or {}).get("geo") is None
            or place["geo"]["lat"] is None
            or not place["geo"]["lat"] < 0
        )
    ),
    **{f"sql_row(year({c}) <= 2013)": each(c, lambda v, c=c: _year(v, c) <= 2013) for c in TIMES},
}


def _year(value: int, column: str) -> int:
    """A day of 2014 is the 366th after the 31st of December 2012, or later."""
    days = value if TYPES[column] == "date" else value // DAY
    return 2014 if days >= 16_071 else 2013
