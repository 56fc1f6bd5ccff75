"""What the reference says of rules about values and the table itself, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from statistics import stdev
from typing import Any

from openlaketx.measure.sql.value_text import day, instant, local_instant
from tests.property.measure.macro_key_cases import (
    KEYED,
    different,
    groups,
    spread,
)
from tests.property.measure.macro_number_cases import NUMBERS
from tests.property.measure.macro_oracle import (
    Data,
    Expected,
    Oracle,
    Rows,
    between,
    counted,
    keys,
    name,
    present,
    repeated,
    settled,
    valued,
)
from tests.property.measure.macro_primitive_keys import in_order
from tests.property.measure.macro_rows import CLOCK, DAY, HOUR, ONE_OF_EACH, SCHEMA, TYPES

_SPELLED = {"date": day, "timestamp": instant, "timestamp_ntz": local_instant}
_CLOSE = ("b", "h", "i", "small", "cents", "e")
_TIMES = ("day", "at", "local")


def _extreme(column: str, pick: Callable[..., Any]) -> Callable[[Data], Any]:
    def found(data: Data) -> Any:
        values = present(data.batch, column)
        return pick(values, key=in_order) if values else None

    return found


def _of_times(column: str, pick: Callable[..., Any], low: int) -> Oracle:
    value = _extreme(column, pick)

    def expected(data: Data) -> list[Expected]:
        found = value(data)
        return [Expected(between(found, low, None), value=_SPELLED[TYPES[column]](found))]

    return expected


def _sum(column: str) -> Callable[[Data], Any]:
    def found(data: Data) -> Any:
        values = present(data.batch, column)
        if not values:
            return None
        if isinstance(values[0], float):
            return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)
        with localcontext(prec=90):
            return sum(values, Decimal(0))

    return found


def _mean(column: str) -> Callable[[Data], Any]:
    def found(data: Data) -> float | None:
        total, count = _sum(column)(data), len(present(data.batch, column))
        return float(total / count) if count else None

    return found


def _quantile(q: Fraction) -> Callable[[list[float]], float]:
    def of(values: list[float]) -> float:
        values, at = sorted(values), q * (len(values) - 1)
        low, high = values[math.floor(at)], values[math.ceil(at)]
        return low + (high - low) * float(at - math.floor(at))

    return of


def _share(
    some: Callable[[Data], int],
    whole: Callable[[Data], int],
    low: int | None,
    high: int | None = None,
) -> Oracle:
    """In per cent; of nothing it holds."""

    def expected(data: Data) -> list[Expected]:
        if not whole(data):
            return [Expected(True)]
        share = Fraction(100 * some(data), whole(data))
        return [Expected(between(share, low, high), value=float(share))]

    return expected


def _most(rows: Rows, column: str) -> int:
    return max(Counter(keys(rows, (column,))).values(), default=0)


def _mostly_a(data: Data) -> list[Expected]:
    """The letter is as frequent as any other, and not too frequent."""
    letters = present(data.table, "k")
    common = letters.count("a") == _most(data.table, "k")
    return [Expected(not letters or (common and letters.count("a") * 100 <= 40 * len(letters)))]


def _age(column: str, good: Callable[[list[int], int], bool]) -> Oracle:
    """``good`` of the moments, a date being its first, and the time of the decision."""
    unit = DAY if TYPES[column] == "date" else 1

    def holds(data: Data) -> bool:
        moments = [value * unit for value in present(data.batch, column)]
        return bool(moments) and good(moments, data.clock)

    return settled(holds)


def _fresh(most: int) -> Callable[[list[int], int], bool]:
    return lambda moments, clock: 0 <= clock - max(moments) <= most


def _groups(by: str, good: Callable[[Rows], bool]) -> Oracle:
    """All new rows of the groups that are not good; NULL is a group."""

    def expected(data: Data) -> list[Expected]:
        failing = [rows for rows in groups(data.batch, by) if not good(rows)]
        return [counted(sum(map(len, failing)), len(data.batch))]

    return expected


def _groups_between(by: str, value: Callable[[Rows], Any], low: Any, high: Any) -> Oracle:
    return _groups(by, lambda rows: between(value(rows), low, high))


def _added(rows: Rows, column: str) -> Any:
    """None where there is nothing to add."""
    values = present(rows, column)
    return sum(values) if values else None


def _balanced(rows: Rows) -> bool:
    paid, due = _added(rows, "small"), _added(rows, "cents")
    return not present(rows, "d") or (paid is not None and due is not None and paid <= due)


def _per_value(rows: Rows) -> bool:
    total, count = _added(rows, "n"), len(present(rows, "m"))
    return total is not None and count > 0 and Fraction(total, count) > 5


def _sizes(data: Data) -> Any:
    """The sum of small numbers through the number of different keys."""
    total, count = _sum("n")(data), different(data.batch, "k")
    return None if total is None or not count else float(Fraction(total) / count)


def _files(data: Data) -> int:
    """A batch is staged in two halves, and a file without rows is none."""
    return min(len(data.batch), 2)


_NAMES = list(SCHEMA.names)
_LISTED_NAMES = ", ".join(f"'{column}'" for column in _NAMES)
VALUE_PRIMITIVES: dict[str, Oracle] = {
    "row_count(min=10, max=30)": valued(lambda data: len(data.batch), 10, 30),
    "row_count(max=30) scope table": valued(lambda data: len(data.table), None, 30),
    "row_count(min=5, max=12) by k": _groups_between("k", len, 5, 12),
    **{f"min({name(c)}, min=0)": valued(_extreme(c, min), 0, None) for c in NUMBERS},
    **{f"max({name(c)}, max=100)": valued(_extreme(c, max), None, 100) for c in NUMBERS},
    "min(day, min='1970-01-01')": _of_times("day", min, 0),
    "max(at, min='2013-12-31T10:00:00Z')": _of_times("at", max, CLOCK),
    "min(local, min='1970-01-01T00:00:00')": _of_times("local", min, 0),
    **{
        f"sum({name(c)}, min=0)": valued(_sum(c), 0, None)
        for c in NUMBERS
        if c not in ("wide", "d")
    },
    **{
        f"mean({name(c)}, min=-1, max=5)": valued(_mean(c), -1, 5)
        for c in NUMBERS
        if c not in ("wide", "d")
    },
    "sum(n, max=40) by k": _groups_between("k", lambda rows: _added(rows, "n"), None, 40),
    "sql_query(sum(i) >= 0 and count(*) <= 12) by k": _groups(
        "k", lambda rows: between(_added(rows, "i"), 0, None) and len(rows) <= 12
    ),
    "sql_query(sum(small) <= sum(cents) or max(d) is null) by n": _groups("n", _balanced),
    "sql_query(sum(n) / count(m) > 5) by yes": _groups("yes", _per_value),
    **{f"deviation({c}, max=50)": valued(spread(c, stdev, 2), None, 50) for c in _CLOSE},
    **{
        f"quantile({c}, q={q}, max=7)": valued(spread(c, _quantile(Fraction(q)), 1), None, 7)
        for c in (*_CLOSE, "d")
        for q in ("0", "0.25", "0.9", "1")
    },
    "sql_agg(sum(n) / count(distinct k), min=10, max=50)": valued(_sizes, 10, 50),
    **{
        f"completeness({name(c)}, min=90%)": _share(
            lambda data, c=c: len(present(data.batch, c)), lambda data: len(data.batch), 90
        )
        for c in ONE_OF_EACH
    },
    **{
        f"distinct_ratio({name(c)}, min=50%)": _share(
            lambda data, c=c: different(data.table, c),
            lambda data, c=c: len(present(data.table, c)),
            50,
        )
        for c in (*KEYED, "same")
    },
    **{
        f"unique_ratio({name(c)}, min=5%)": _share(
            lambda data, c=c: len(present(data.table, c)) - repeated(data.table, c),
            lambda data, c=c: len(present(data.table, c)),
            5,
        )
        for c in KEYED
    },
    **{
        f"most_common({name(c)}, max=30%)": _share(
            lambda data, c=c: _most(data.table, c),
            lambda data, c=c: len(present(data.table, c)),
            None,
            30,
        )
        for c in KEYED
    },
    "most_common(k, value='a', max=40%)": _mostly_a,
    "freshness(at, max='24h')": _age("at", _fresh(DAY)),
    "freshness(seen, max='90m')": _age("seen", _fresh(HOUR * 3 // 2)),
    "freshness(`seen on`, max='2d')": _age("seen on", _fresh(2 * DAY)),
    "not_older_than(local, max='30d')": _age("local", lambda m, now: now - min(m) <= 30 * DAY),
    "not_older_than(seen, max='24h')": _age("seen", lambda m, now: now - min(m) <= DAY),
    "not_older_than(till, max='2w')": _age("till", lambda m, now: now - min(m) <= 14 * DAY),
    **{f"not_future({c})": _age(c, lambda m, now: max(m) <= now) for c in (*_TIMES, "seen")},
}
TABLE_PRIMITIVES: dict[str, Oracle] = {
    "column_exists(i, `order id`)": settled(lambda data: {"i", "order id"} <= set(_NAMES)),
    "column_type(small, type='decimal(9,2)')": settled(lambda data: True),
    "column_type(small, type='decimal(10,2)')": settled(lambda data: False),
    "column_count(min=3, max=20)": settled(lambda data: 3 <= len(_NAMES) <= 20),
    "column_count(min=3)": settled(lambda data: len(_NAMES) >= 3),
    "column_order(b, i, d)": settled(lambda data: sorted("bid", key=_NAMES.index) == list("bid")),
    "column_order(d, b)": settled(lambda data: _NAMES.index("d") < _NAMES.index("b")),
    f"schema_match(columns=[{_LISTED_NAMES}])": settled(lambda data: True),
    "schema_match(columns=['i'])": settled(lambda data: False),
    "file_count(min=2)": valued(_files, 2, None),
    "partition_present(k, value='a')": settled(lambda data: _files(data) >= 1),
    "partition_present(k, value='b')": settled(lambda data: _files(data) == 2),
    "partition_present(k, value='c')": settled(lambda data: False),
}
