"""Documents of many decisions are held together only up to a length."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.insight.history.replay import in_portions

MOST = 100
SHARED = ("facts_hash", "ruleset_hash", "policies_hash", "history_hash")


def rows_of(evidence: list[int | None]) -> list[Any]:
    """One row for each length of evidence; all else is shared, and the same evidence too."""
    return [
        SimpleNamespace(
            _mapping={
                **dict.fromkeys(SHARED, "shared"),
                "evidence_hash": None if length is None else f"e{length}",
            }
        )
        for length in evidence
    ]


@given(evidence=st.lists(st.none() | st.integers(1, 150), max_size=40))
def test_no_portion_is_longer_than_it_may_be(evidence: list[int | None]) -> None:
    rows = rows_of(evidence)
    sizes = {"shared": 5, **{f"e{length}": length for length in evidence if length}}
    portions = list(in_portions(cast("list[Any]", rows), sizes, MOST))
    assert [row for some in portions for row in some] == rows
    for some in portions:
        named = {name for row in some for name in row._mapping.values()} - {None}
        assert len(some) == 1 or sum(sizes[name] for name in named) <= MOST
    assert all(portions)
