"""Rules that cannot quarantine rows are refused at their position."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import SHOP, SILVER, mistakes

FILE = "definitions/silver/orders.yaml"
HASHED = SILVER.replace(
    "columns:", "load: {type: INCREMENTAL, keys: [order_id], hash: ROW_HASH}\ncolumns:", 1
)


def case(name: str, given: str, says: str) -> Case:
    """``said`` is a rule, with marks around what is wrong."""
    return Case(name, HASHED, "rules:\n", f'rules:\n  - "{given}"\n', "LG-2015", says)


CASES = [
    case("a column that the load writes", "regex(«row_hash», pattern='x') on_fail quarantine",
         "row_hash is written by the load"),
    case("such a column in a condition",
         "not_null(amount) where «row_hash» <> 'x' on_fail quarantine", "is written by the load"),
    case("a sequence", "increasing(amount, order_id) «on_fail quarantine»", "single rows"),
    case("a value", "row_count(min=1) on_fail «quarantine»", "has no rows to quarantine"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_place_is_told(case: Case, tmp_path: Path) -> None:
    check(case, FILE, tmp_path)


def test_what_can_quarantine_is_accepted(tmp_path: Path) -> None:
    given = 'rules:\n  - "ge(amount, value=0) on_fail quarantine"\n'
    text = HASHED.replace("rules:\n", given, 1)
    assert mistakes(tmp_path, {**SHOP, FILE: text}) == ()
