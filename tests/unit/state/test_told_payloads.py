"""What is told of a row is its JSON, with the columns in order and nulls left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.state.facts import payload
from lakeguard_sdk.canonical import format_instant


class Word(StrEnum):
    ODD = 'a "word"'


ZONES = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=ZONES)  # noqa: DTZ001
VALUES = st.none() | st.booleans() | st.integers() | st.text() | TIMES | st.sampled_from(Word)


@given(st.dictionaries(st.sampled_from("abcdefgh"), VALUES))
def test_a_payload_is_the_json_of_a_row(row: dict[str, object]) -> None:
    columns = sorted("abcdefgh")
    plain = {
        name: format_instant(value) if isinstance(value, datetime) else value
        for name in columns
        if (value := row.get(name)) is not None
    }
    assert payload(row, columns) == json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
