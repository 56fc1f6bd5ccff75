"""What is hashed stays as it is: stored rules, evidence and decisions depend on it.

A change here is a change of meaning: recorded decisions no longer replay. Until 0.1.0 it is made
deliberately, together with ``make decisions``; from then on it needs a new number for SEMANTICS,
with the earlier meaning kept beside the new one.
"""

from __future__ import annotations

from datetime import date

from lakeguard.gate.decide import SEMANTICS
from lakeguard.gate.rules.compile import compile_rule
from lakeguard_sdk.expressions.measures import measure_key
from tests.unit.gate.cases import SCHEMA, evidence_of, facts, policy, row, rule, ruling

KEYS = {
    "not_null(key)": [
        "count_if:155f45e9ec2e2b0e",
        "row_count:6a4f57628a0215de",
    ],
    "range(count, min=0, max=5) where name <> 'X' warn_if > 0 fail_if > 0.1%": [
        "count_if:ff151f09280c0ec6",
        "row_count:b2ee71b66029170e",
        "aggregate:5e8ecbd8f80e51d2",
        "aggregate:285a6d4c6b84edb3",
    ],
    "range(delay, min=-120, max=2000.5)": [
        "count_if:d8468f315f796dcd",
        "row_count:6a4f57628a0215de",
        "aggregate:f58000e13153d869",
        "aggregate:5b77683e0946c432",
    ],
    "length(name, max=3)": [
        "count_if:c86d0a10721cc802",
        "row_count:6a4f57628a0215de",
    ],
    "in_set(name, values=['it''s', 'Y'])": [
        "count_if:f9b8deaa97cc9c11",
        "row_count:6a4f57628a0215de",
    ],
    "regex(key, pattern='[A-Z]{2}')": [
        "count_if:b57661ee2dbc04ff",
        "row_count:6a4f57628a0215de",
    ],
    "compare(count <= size)": [
        "count_if:4af4201e95f1591d",
        "row_count:6a4f57628a0215de",
    ],
    "unique(key, count)": [
        "duplicate_rows:5357715bb7b7be76",
        "row_count:ec44199ac2e36283",
    ],
    "unique(key) scope batch": [
        "duplicate_rows:d6aea5cbf127d83b",
        "row_count:6a4f57628a0215de",
    ],
    "row_count(min=1)": [
        "row_count:6a4f57628a0215de",
    ],
    "mean(delay, min=5, max=30)": [
        "aggregate:7ca863e75a422872",
    ],
    "max(day, max='2013-12-31')": [
        "aggregate:fd4de09de9481a8a",
    ],
}


def test_canonical_texts_and_measures() -> None:
    found = {
        text: [measure_key(measure) for measure in compile_rule(rule(text), SCHEMA).measures]
        for text in KEYS
    }
    assert found == KEYS
    assert [rule(text).expression for text in KEYS] == list(KEYS)


def test_a_whole_decision() -> None:
    rules = tuple(rule(text) for text in KEYS)
    rows = [
        row(key="AB", count=3, size=5, delay=51180.0, name="x", day=date(2013, 1, 1)),
        row(key="AB", count=9, size=5, delay=0.25, day=date(2099, 1, 1)),
    ]
    policies = (policy("forbid tag:pii"),)
    case = facts(tags={"key": ("pii",)})
    ruled = ruling(evidence_of(rules, rows), rules, policies, case)
    assert [check.message for check in ruled.checks] == [
        "2 rows, 13 columns, as declared",
        "column key tagged pii",
        "1 of 2 new rows (50 %), none allowed",
        "1 of 2 new rows (50 %), none allowed",
        "0 of 2 new rows",
        "max of day is 2099-01-01, limit at most 2013-12-31",
        "mean of delay is 25,590.125, limit 5 to 30",
        "0 of 2 new rows",
        "0 of 1 new rows where name <> 'X'",
        "1 of 2 new rows (50 %), worst 51,180, none allowed",
        "0 of 2 new rows",
        "2 new rows, limit at least 1",
        "2 of 2 new rows (100 %), none allowed",
        "0 of 2 rows of the table",
    ]
    assert ruled.semantics == SEMANTICS
    assert ruled.content_hash() == (
        "sha256:76c38dd09a4194410cb7c8f92119b035053f076f755d6434014140e08c402243"
    )
