"""What is told of a row is its JSON, with the columns in order and nulls left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.state.outbox import payloads
from lakeguard_sdk.core.canonical_json import format_instant


class Word(StrEnum):
    ODD = 'a "word"'


ZONES = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=ZONES)  # noqa: DTZ001
VALUES = st.none() | st.booleans() | st.integers() | st.text() | TIMES | st.sampled_from(Word)


COLUMNS = sorted("abcdefgh")


def plain(row: dict[str, object]) -> str:
    values = {
        name: format_instant(value) if isinstance(value, datetime) else value
        for name in COLUMNS
        if (value := row.get(name)) is not None
    }
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


@given(st.dictionaries(st.sampled_from(COLUMNS), VALUES))
def test_a_payload_is_the_json_of_a_row(row: dict[str, object]) -> None:
    assert payloads([row], COLUMNS) == [plain(row)]


@given(st.data(), st.sets(st.sampled_from(COLUMNS)), st.lists(VALUES, min_size=1, max_size=2))
def test_rows_that_share_values_are_told_as_if_alone(
    data: st.DataObject, names: set[str], few: list[object]
) -> None:
    """Of one or two values for all columns, many rows have the same."""
    row = st.fixed_dictionaries({name: st.sampled_from(few) for name in names})
    rows = data.draw(st.lists(row, max_size=6))
    assert payloads(rows, COLUMNS) == [plain(row) for row in rows]


def test_values_that_only_compare_as_equal_are_told_as_they_are() -> None:
    rows = [{"a": True, "b": 1}, {"a": 1, "b": True}]
    assert payloads(rows, ["a", "b"]) == ['{"a":true,"b":1}', '{"a":1,"b":true}']
