from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.core.dataset_name import (
    Address,
    DatasetName,
    parse_address,
    parse_version,
)
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import BadAddress, BadName


def test_a_dataset_name_knows_its_parts() -> None:
    name = DatasetName("silver.flights")
    assert (name.layer, name.name) == (Layer.SILVER, "flights")


HOSTILE = [
    "flights",
    "silver.",
    ".flights",
    "platinum.flights",
    "silver.Flights",
    "silver.flights.x",
    "silver...",
    "silver./etc/passwd",
    "silver.%2e%2e",
    "silver.a\x00b",
    "silver.a\u202eb",
    "silver.naïve",
    "silver." + "a" * 300,
    "silver.1st",
    "silver.a b",
    "silver.flights\n",
    "SILVER.flights",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_refused(text: str) -> None:
    with pytest.raises(BadName):
        DatasetName(text)


@given(st.text())
def test_any_text_is_a_name_or_refused(text: str) -> None:
    with suppress(BadName):
        assert str(DatasetName(text)) == text


def test_addresses() -> None:
    assert parse_address("silver.flights") == Address(dataset=DatasetName("silver.flights"))
    assert parse_address("silver.flights@v7").version == 7
    at = parse_address("silver.flights@2026-01-31T00:00Z").at
    assert at is not None
    assert at.isoformat() == "2026-01-31T00:00:00+00:00"
    assert str(parse_address("silver.flights@v7")) == "silver.flights@v7"


@pytest.mark.parametrize("text", ["v0", "seven", "v-1", "", "v" + "9" * 40])
def test_a_bad_version_is_refused(text: str) -> None:
    with pytest.raises(BadAddress):
        parse_version(text)


@pytest.mark.parametrize("text", ["silver.flights@2026-01-31T00:00", "silver.flights@x"])
def test_a_bad_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddress):
        parse_address(text)


def test_ids_are_distinct_prefixed_and_of_one_width() -> None:
    ids = [new_id("run") for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert {len(item) for item in ids} == {30}
    assert all(item.startswith("run_") for item in ids)
    with pytest.raises(ValueError, match="unknown id prefix"):
        new_id("whatever")
