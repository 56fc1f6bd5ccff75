"""Rules about the table itself, and about times as old as the decision says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.model.evidence import StagedFile
from tests.unit.gate.cases import (
    CLOCK,
    evidence_of,
    judged,
    refusal,
    result_of,
    row,
    rule,
    ruling,
)


@pytest.mark.parametrize(
    ("text", "outcome", "message"),
    [
        ("column_exists(key, raw)", Outcome.PASS, "the table has key, raw"),
        ("column_type(amount, 'decimal(9, 2)')", Outcome.PASS, "amount is decimal(9,2)"),
        ("column_type(amount, 'long')", Outcome.FAIL, "amount is decimal(9,2)"),
        ("column_count(min=13, max=13)", Outcome.PASS, "the table has 13 columns"),
        ("column_count(max=12)", Outcome.FAIL, "the table has 13 columns"),
        ("column_order(key, amount)", Outcome.PASS, None),
        ("column_order(amount, key)", Outcome.FAIL, None),
        ("schema_match(['key'])", Outcome.FAIL, None),
        ("file_count(max=1)", Outcome.PASS, "1 new file, limit at most 1"),
        ("file_count(min=2)", Outcome.FAIL, "1 new file, limit at least 2"),
    ],
)
def test_shapes(text: str, outcome: Outcome, message: str | None) -> None:
    found = judged(text, [row()])
    assert found.outcome is outcome
    assert message is None or found.message == message


def test_partitions() -> None:
    rules = (rule("partition_present(day, value='2026-01-31')"),)
    bare = evidence_of(rules, [row()])
    check_id = rules[0].rule_id
    assert result_of(check_id, ruling(bare, rules)).outcome is Outcome.ERROR
    for value, outcome in (("2026-01-31", Outcome.PASS), ("2026-01-30", Outcome.FAIL)):
        file = StagedFile(
            path="a", size=1, rows=1, modified_ms=1, stats="{}", partition={"day": value}
        )
        whole = bare.model_copy(update={"files": (file,)})
        assert result_of(check_id, ruling(whole, rules)).outcome is outcome


def test_times_are_held_against_the_decision() -> None:
    past, future = CLOCK - timedelta(days=3), CLOCK + timedelta(seconds=1)
    rows = [row(dep=past), row(dep=CLOCK)]
    assert judged("not_future(dep)", rows).outcome is Outcome.PASS
    found = judged("not_future(dep)", [*rows, row(dep=future)])
    assert found.outcome is Outcome.FAIL
    assert found.message == "newest dep is in the future, limit not in the future"
    assert judged("not_older_than(dep, max=3d)", rows).outcome is Outcome.PASS
    assert judged("not_older_than(dep, max=3d)", [row(dep=future)]).outcome is Outcome.PASS
    old = judged("not_older_than(dep, max=71h)", rows)
    assert (old.outcome, old.message) == (
        Outcome.FAIL,
        "oldest dep is 3 d old, limit at most 2 d 23 h",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("column_exists(gone)", "unknown column gone"),
        ("column_type(key, 'texty')", "texty"),
        ("column_count()", "needs min, max or both"),
        ("column_exists(key) where count > 1", "does not support where"),
        ("file_count(max=1) fail_if > 2", "does not support fail_if"),
        ("schema_match([1, 2])", "list columns as texts"),
        ("not_future(name)", "needs dates or timestamps"),
    ],
)
def test_what_means_nothing_is_refused(text: str, message: str) -> None:
    assert message in str(refusal(text))
