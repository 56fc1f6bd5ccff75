"""What the reference says of rules about keys and sequences, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

from tests.property.measure.macro_key_cases import (
    KEYED,
    LISTED,
    groups,
    intervals,
    keys_between,
    leaves_a_gap,
    new_values,
    overlaps,
    steps,
)
from tests.property.measure.macro_oracle import (
    Data,
    Expected,
    Oracle,
    Rows,
    alike,
    counted,
    keys,
    name,
    no_repeats,
)
from tests.property.measure.macro_rows import DAY, TYPES

_REFERRED = tuple(c for c in LISTED if TYPES[c] not in ("float", "double"))


def in_order(value: Any) -> Any:
    """NaN is above every number, and texts are in the order of their bytes."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value.encode() if isinstance(value, str) else value


def _referred(found: bool, *columns: str) -> Oracle:
    """Rows whose key the other dataset has, or has not."""

    def expected(data: Data) -> list[Expected]:
        known = set(keys(data.others, columns))
        failed = sum((key in known) is found for key in keys(data.table, columns))
        return [counted(failed, len(data.table))]

    return expected


def _same_rows(*columns: str) -> Oracle:
    """Rows that one side has more often than the other; a NULL is a value like any other."""

    def expected(data: Data) -> list[Expected]:
        ours, theirs = (
            Counter(tuple(alike(row[column]) for column in columns) for row in rows)
            for rows in (data.table, data.others)
        )
        failed = (ours - theirs).total() + (theirs - ours).total()
        return [counted(failed, len(data.table) + len(data.others))]

    return expected


def _along(column: str, along: str, *, down: bool, strict: bool, by: str | None = None) -> Oracle:
    """Rows that stand wrong beside the row before them; at one place the order that fits."""

    def failing(rows: Rows) -> int:
        whole = [r for r in rows if r[column] is not None and r[along] is not None]
        whole.sort(key=lambda row: in_order(row[column]), reverse=down)
        whole.sort(key=lambda row: in_order(row[along]))
        values = [in_order(row[column]) for row in whole]
        wrong = [one < two if down else one > two for one, two in pairwise(values)]
        same = [strict and one == two for one, two in pairwise(values)]
        return sum(wrong) + sum(same)

    return lambda data: [
        counted(sum(map(failing, groups(data.table, by))), len(data.table)),
    ]


KEY_PRIMITIVES: dict[str, Oracle] = {
    **{f"unique({name(c)})": no_repeats(c) for c in KEYED},
    "unique(n, k) scope batch": lambda data: no_repeats("n", "k")(
        Data(data.batch, [], data.others, data.counts)
    ),
    **{f"distinct({name(c)}, max=9)": keys_between(c, high=9) for c in KEYED},
    **{
        f"foreign_key({name(c)} -> silver.other({name(c)}))": _referred(False, c) for c in _REFERRED
    },
    "not_in_reference(k, n -> silver.other(k, n))": _referred(True, "k", "n"),
    "not_in_reference(s -> silver.other(s))": _referred(True, "s"),
    **{
        f"dataset_equal({(listed := ', '.join(map(name, columns)))} -> silver.other({listed}))": (
            _same_rows(*columns)
        )
        for columns in (("k",), ("d", "yes"), ("at", "small"), ("s", "raw", "order id"), KEYED)
    },
    "gaps(n, step=1) by k": steps("n", 1, "k"),
    "gaps(at, step='1d')": steps("at", DAY),
    "increasing(n, m) by k": _along("n", "m", down=False, strict=False, by="k"),
    "increasing(d, at, strict=true)": _along("d", "at", down=False, strict=True),
    "decreasing(s, n)": _along("s", "n", down=True, strict=False),
    "decreasing(wide, day, strict=true) by yes": _along(
        "wide", "day", down=True, strict=True, by="yes"
    ),
    "no_overlap(n, m) by k": intervals("n", "m", "k", overlaps),
    "no_interval_gap(day, till) by yes": intervals("day", "till", "yes", leaves_a_gap),
    **{f"set_drift({name(c)}, new=2)": new_values(c, 2) for c in ("k", "n", "d", "at", "wide")},
}
