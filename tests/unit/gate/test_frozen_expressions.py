"""Expressions that are hashed stay as they are: evidence and decisions depend on their shape."""

from __future__ import annotations

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import parse_rule, rule_text
from lakeguard_sdk.expressions.measures import measure_key
from tests.unit.gate.test_expressions import SCHEMA

KEYS = {
    "sql_row(amount * 2 - count <= total and lower(name) in ('a', 'b'))": [
        "count_if:5199a9faa6ee3614",
        "row_count:6a4f57628a0215de",
    ],
    "sql_row(coalesce(delay / count, 0) < 1 or address.city like 'x!%%')": [
        "count_if:91497f8a5a809502",
        "row_count:6a4f57628a0215de",
    ],
    "sql_row(if(castable(name, 'integer') and size(tags) > 1, 1, 0) = days_between(dep, arr))": [
        "count_if:3413807701aa593a",
        "row_count:6a4f57628a0215de",
    ],
    "eq(ratio, value=0.1)": [
        "count_if:58d7c28aafdbf2e0",
        "row_count:6a4f57628a0215de",
    ],
    "null(tags)": [
        "count_if:e8cf13c575ed5e0a",
        "row_count:6a4f57628a0215de",
    ],
    "not_range(count, min=1, max=3)": [
        "count_if:2156813c1ee1f80b",
        "row_count:6a4f57628a0215de",
    ],
    "date_format(name, format='dd/MM/yyyy')": [
        "count_if:718df8391163eef7",
        "row_count:6a4f57628a0215de",
    ],
    "compare(amount = total, tolerance=0.01)": [
        "count_if:2c95f7a3718d1d30",
        "row_count:6a4f57628a0215de",
    ],
    "array_size(tags, max=3)": [
        "count_if:81021f022fa435b7",
        "row_count:6a4f57628a0215de",
    ],
    "array_elements(tags, length(value) <= 20)": [
        "count_if:7a2dcb6a430ee105",
        "row_count:6a4f57628a0215de",
    ],
    "format(name, kind='iban')": [
        "count_if:523e836bd885794f",
        "row_count:6a4f57628a0215de",
    ],
    "case(name, letters='upper')": [
        "count_if:575e72fbf5e1f154",
        "row_count:6a4f57628a0215de",
    ],
    "map_keys(counts, allowed=['a', 'b'], required=['a'])": [
        "count_if:a87aa7c43884c204",
        "row_count:6a4f57628a0215de",
    ],
    "json_keys(name, allowed=['a'], required=['a'])": [
        "json_faults:0446351a353fb464",
        "row_count:6a4f57628a0215de",
    ],
    'json_schema(name, schema=\'{"type": "object"}\')': [
        "json_faults:25129ecea5f54fac",
        "row_count:6a4f57628a0215de",
    ],
    "json_valid(name) where count > 1": [
        "json_faults:023b85b34dfbf537",
        "row_count:41fd593bbcabb17e",
    ],
    "unique_ratio(key, min=90%)": [
        "duplicate_rows:c334b4280143879e",
        "row_count:8a95a69d33fbfa94",
    ],
    "most_common(name, value='a', max=50%)": [
        "most_common_rows:dd9bb351e1957ca8",
        "row_count:1ed2326c5c036b85",
        "row_count:d704c1751e1ad335",
    ],
    "dataset_equal(key, count -> silver.other(key, n))": [
        "compared_rows:f537656079aa566f",
        "compared_rows:6c324bfea88c5a02",
    ],
    "sql_query(sum(amount) / count(*) > 5 or max(delay) is null) by key": [
        "group_faults:edcba9c42a0677af",
        "row_count:6a4f57628a0215de",
    ],
    "sql_agg(sum(amount * count) / count(distinct key) + count(name) - count(*), max=5)": [
        "aggregate:39d6687020e1e0f3",
        "distinct_count:b139a0fea4bf814c",
        "count_if:e6668214963f4814",
        "row_count:6a4f57628a0215de",
    ],
}


def test_canonical_texts_and_measures() -> None:
    found = {
        text: [measure_key(measure) for measure in compile_text(text, SCHEMA).measures]
        for text in KEYS
    }
    assert found == KEYS
    assert [rule_text(parse_rule(text)) for text in KEYS] == list(KEYS)
