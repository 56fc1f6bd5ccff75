"""What can be said behind a rule: whose rows it is about, how many may fail, what it was before."""

from __future__ import annotations

from tests.support.cases.rules import (
    DOUBLE,
    FOUR,
    LONG,
    TEXT,
)
from tests.support.cases.rules_and_rows import Case, case

CLAUSES: dict[str, Case] = {
    "where": case(
        "range(toll, min=1) where lane = 'A'",
        1,
        toll=(LONG, [1, 0, 2, 0], [0, 0, 2, 0]),
        lane=(TEXT, list("ABAB"), list("ABAB")),
    ),
    "by": case(
        "sum(hours, max=8) by worker where hours is not null",
        2,
        hours=(LONG, [4, 4, 8, None], [4, 5, 8, None]),
        worker=(LONG, [1, 1, 2, 2], [1, 1, 2, 2]),
    ),
    "fail_if": case(
        "not_null(hint) fail_if > 50%",
        4,
        hint=(TEXT, ["a", "b", None, None], ["a", "b", None, None]),
    ),
    "warn_if": case(
        "ge(rank, 1) warn_if > 1 fail_if > 2", 3, rank=(LONG, [0, 1, 2, 3], [0, 0, 0, 3])
    ),
    "scope": case("unique(token) scope batch", 2, token=(LONG, FOUR, [1, 2, 3, 3])),
    "change": case(
        "mean(volume, change=10%)", None, volume=(DOUBLE, [1.0] * 4, [1.0, 1.0, 1.0, 2.0])
    ),
    "band": case("sum(turnover, band='mad', least=2)", None, turnover=(LONG, FOUR, [1, 2, 3, 9])),
}
