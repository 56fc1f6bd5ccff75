"""Metadata records as nouns: identity, kinds, conditions, builders."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.payloads import (
    Extras,
    IngestionVolume,
    Payload,
    ReconResult,
    ReconStatus,
    shipped_kinds,
)
from lakeguard_sdk.records.query import Condition, FieldComparison, MetadataQuery
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget, value_at
from tests.support.cases.records import AIRPORTS, FLIGHTS, START, context, volume
from tools.docs.record_kinds import EXAMPLES, example_records

# Identity.


def test_a_fact_is_the_same_whatever_is_said_of_it() -> None:
    first = volume(1)
    again = first.model_copy(
        update={
            "payload": {"rows": 2},
            "producer_id": "ingestion.v7",
            "produced_at": START + timedelta(days=1),
            "extras": {"a": 1},
            "version": 4,
            "target": MetadataTarget(source_id="Warehouse", schema_="PUBLIC", table="Flights"),
        }
    )
    assert again.record_id() == first.record_id()


@pytest.mark.parametrize(
    "other",
    [
        volume(1, run="run_2"),
        volume(1, target=AIRPORTS),
        volume(1, namespace="team"),
        volume(1, tenant="other"),
        volume(1, run=None),
        volume(1).model_copy(update={"kind": "ingestion_runtime"}),
        volume(1).model_copy(update={"producer_id": "backfill.v1"}),
        volume(1, target=MetadataTarget(source_id="warehouse.public", table="flights")),
    ],
)
def test_another_fact_has_another_id(other: MetadataRecord) -> None:
    assert other.record_id() != volume(1).record_id()


def test_without_a_run_the_time_tells_facts_apart() -> None:
    assert volume(1, run=None).record_id() == volume(2, run=None).record_id()
    assert volume(1, run=None).record_id() != volume(1, run=None, hours=0.001).record_id()


def test_a_kind_may_add_to_the_identity() -> None:
    def result(check: str, scope: dict[str, str]) -> str:
        payload = ReconResult(check=check, status=ReconStatus.PASS, scope=scope)
        record = payload.record(
            FLIGHTS, context(), produced_at=START, producer_id="recon.v1", extras=Extras()
        )
        return record.record_id(ReconResult.IDENTITY)

    ids = [result("a", {}), result("b", {}), result("a", {"day": "1"}), result("a", {"day": "2"})]
    assert len(set(ids)) == 4
    assert result("a", {}) == ids[0]


NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5)


@given(NAMES, NAMES, NAMES, NAMES)
def test_targets_are_told_apart_by_their_parts(a: str, b: str, c: str, d: str) -> None:
    def key(*names: str) -> str:
        return MetadataTarget(source_id=names[0], schema_=names[1], table=names[2]).key

    same = [x.casefold() for x in (a, b, c)] == [x.casefold() for x in (a, b, d)]
    assert (key(a, b, c) == key(a, b, d)) is same
    assert key(a, b, c) == key(a.upper(), b, c) or a.casefold() != a.upper().casefold()


def test_a_revised_record_has_its_version_everywhere() -> None:
    first = volume(1)
    assert first.data["version"] == 1
    assert first.revised(2).version == first.revised(2).data["version"] == 2
    assert first.revised(2).record_id() == first.record_id()


# What is no record.


@pytest.mark.parametrize(
    "change",
    [
        {"producer_id": "ingestion"},
        {"producer_id": "ingestion.v0"},
        {"kind": "Ingestion"},
        {"version": 0},
        {"produced_at": "2026-01-01T00:00:00"},
        {"payload": {"at": START}},
        {"payload": {"x": float("nan")}},
        {"payload": {"x": "\ud800"}},
        {"extras": {"x": "a" * 300_000}},
        {"target": {"source_id": "a", "table": "b\n"}},
        {"target": {"source_id": "a", "table": "b", "extras": {"x": {1, 2}}}},
        {"target": {"source_id": "a"}},
        {"context": {"run_id": "r"}},
        {"unknown": 1},
    ],
)
def test_what_is_no_record_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MetadataRecord.model_validate({**volume(1).data, **change})


def test_a_window_does_not_end_before_it_begins() -> None:
    with pytest.raises(ValidationError, match="window_end"):
        Extras(window_start=START, window_end=START - timedelta(seconds=1))


# Conditions.

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-3, 3), st.sampled_from(["", "a", "1"])
)
WANTED = st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "1"]))


def holds(comparison: FieldComparison, value: Any, found: Any) -> bool:
    condition = Condition(path="payload.x", comparison=comparison, value=value)
    return condition.holds({"payload": {"x": found}})


@given(VALUES, WANTED)
def test_equal_and_not_equal_exclude_each_other(found: Any, wanted: Any) -> None:
    equal = holds(FieldComparison.EQ, wanted, found)
    assert holds(FieldComparison.NE, wanted, found) is not equal
    assert holds(FieldComparison.IN, [wanted], found) is equal
    assert not holds(FieldComparison.IN, [], found)
    assert equal is (found == wanted and isinstance(found, bool) is isinstance(wanted, bool))


@given(VALUES, WANTED.filter(lambda wanted: not isinstance(wanted, bool)))
def test_an_order_is_one_of_values_of_one_type(found: Any, wanted: Any) -> None:
    signs = (FieldComparison.LT, FieldComparison.EQ, FieldComparison.GT)
    less, equal, greater = (holds(sign, wanted, found) for sign in signs)
    texts = isinstance(found, str) and isinstance(wanted, str)
    numbers = isinstance(found, int | float) and not isinstance(found, bool)
    comparable = texts or (numbers and not isinstance(wanted, str))
    assert less + equal + greater == comparable
    assert holds(FieldComparison.LE, wanted, found) is (less or equal)
    assert holds(FieldComparison.GE, wanted, found) is (greater or equal)


@given(VALUES)
def test_a_field_exists_if_it_is_not_null(found: Any) -> None:
    assert holds(FieldComparison.EXISTS, True, found) is (found is not None)
    assert holds(FieldComparison.EXISTS, False, found) is (found is None)
    nothing = Condition(path="payload.y.z", comparison=FieldComparison.EXISTS, value=False)
    assert nothing.holds({"payload": {"y": found}})


@pytest.mark.parametrize(
    "where",
    [
        {"rows": 1},
        {"produced_at": "2026"},
        {"payload.": 1},
        {"payload..x": 1},
        {"payload.x": None},
        {"payload.x": {"in": "a"}},
        {"payload.x": {"exists": 1}},
        {"payload.x": {"lt": True}},
        {"payload.x": {"like": "a"}},
        {"payload.x": {"eq": [1]}},
    ],
)
def test_what_is_no_condition_is_refused(where: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MetadataQuery(where=where)


def test_a_query_says_the_same_on_the_wire() -> None:
    query = MetadataQuery(
        kinds=["ingestion_volume"],
        targets=[FLIGHTS],
        where={"extras.window_start": {"ge": "2026-01-01", "lt": "2026-02-01"}, "payload.x": True},
        since=START,
        order="produced_at",
    )
    text = query.model_dump_json(by_alias=True)
    assert MetadataQuery.model_validate_json(text, strict=True) == query
    assert len(query.where) == 3


# Kinds and builders.


def test_every_kind_has_a_builder_and_an_example_of_its_schema() -> None:
    kinds = {kind.kind: kind for kind in shipped_kinds()}
    assert len(kinds) == 8
    for name, record in example_records().items():
        kind = kinds[name]
        jsonschema_rs.validate(kind.json_schema, record.payload)
        assert MetadataRecord.model_validate(record.data) == record
        assert all(record.at(path) is not None for path in kind.identity)


@pytest.mark.parametrize("payload", [payload for payload, *_ in EXAMPLES], ids=lambda p: p.KIND)
def test_what_is_not_known_is_left_out(payload: Payload) -> None:
    record = payload.record(FLIGHTS, context(), produced_at=START, producer_id="x.v1")
    assert None not in record.payload.values()
    assert type(payload).model_validate(record.payload) == payload
    assert record.extras == {}


def test_an_attribute_has_one_place() -> None:
    volume_record = example_records()["ingestion_volume"]
    assert value_at(volume_record.data, "extras.window_start") == "2026-01-01T00:00:00.000000Z"
    assert "run_id" not in IngestionVolume.model_fields
    assert volume_record.at("context.run_id")


def test_a_kind_names_fields_that_can_be_there() -> None:
    for identity in (("check",), ("payload",), ("target.table",)):
        with pytest.raises(ValidationError):
            MetadataKind(kind="a", json_schema={}, identity=identity)
