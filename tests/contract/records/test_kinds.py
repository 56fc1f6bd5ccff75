"""Kinds of metadata records, as every repository keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard_sdk.errors import KindRefused, RecordRefused, UnknownKind
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.payloads import shipped_kinds
from lakeguard_sdk.records.record import MetadataRecord
from lakeguard_sdk.records.repository import MetadataRepository
from tests.support.cases.records import FLIGHTS, START, context

ORDERS = MetadataKind(
    kind="orders_seen",
    json_schema={
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    },
)


def orders(tenant: str, payload: dict[str, Any]) -> MetadataRecord:
    return MetadataRecord(
        target=FLIGHTS,
        kind="orders_seen",
        payload=payload,
        produced_at=START,
        producer_id="shop.v1",
        context=context("run_1", tenant),
    )


def test_the_shipped_kinds_are_there(repository: MetadataRepository) -> None:
    shipped = {kind.kind: kind for kind in shipped_kinds()}
    assert {kind.kind: kind for kind in repository.kinds()} == shipped
    assert [kind.kind for kind in repository.kinds()] == sorted(shipped)


def test_a_kind_is_registered_before_its_first_record(
    repository: MetadataRepository, beside: MetadataRepository, tenant: str
) -> None:
    with pytest.raises(UnknownKind):
        repository.store(orders(tenant, {"n": 1}))
    assert repository.register_kind(ORDERS) == ORDERS
    assert repository.register_kind(ORDERS) == ORDERS
    assert ORDERS in repository.kinds()
    assert beside.store(orders(tenant, {"n": 1})).is_new


def test_a_later_version_of_a_kind_refuses_nothing_more(
    repository: MetadataRepository, tenant: str
) -> None:
    repository.register_kind(ORDERS)
    wider = {
        **ORDERS.json_schema,
        "properties": {"n": {"type": ["integer", "null"]}, "shop": {"type": "string"}},
    }
    narrower = {**ORDERS.json_schema, "properties": {"n": {"type": "integer", "minimum": 0}}}
    for refused, reason in (
        ({"json_schema": wider}, "registered otherwise"),
        ({"version": 3, "json_schema": wider}, "next version is 2"),
        ({"version": 2, "json_schema": narrower}, "might be refused"),
        ({"version": 2, "json_schema": wider, "identity": ("payload.n",)}, "identity"),
    ):
        with pytest.raises(KindRefused, match=reason):
            repository.register_kind(ORDERS.model_copy(update=refused))
    second = ORDERS.model_copy(update={"version": 2, "json_schema": wider})
    with pytest.raises(RecordRefused):
        repository.store(orders(tenant, {"n": 1, "shop": "a"}))
    repository.register_kind(second)
    assert repository.store(orders(tenant, {"n": 1, "shop": "a"})).is_new
    assert {kind.kind: kind.version for kind in repository.kinds()}["orders_seen"] == 2
    assert repository.register_kind(ORDERS) == ORDERS


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "nonsense"}, "not valid"),
        ({"$ref": "https://example.com/schema.json"}, "references"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "2020-12"),
        ({"pattern": "("}, "not valid"),
        ({"enum": [f"{n:070}" for n in range(1_000)]}, "characters"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(
    repository: MetadataRepository, schema: dict[str, Any], reason: str
) -> None:
    with pytest.raises(KindRefused, match=reason):
        repository.register_kind(MetadataKind(kind="odd", json_schema=schema))
