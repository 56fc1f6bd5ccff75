"""Live tables of versions whose types grew: the table follows, and its readers' rows stay exact."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import DeliveryFailed
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.types.schema import TableSchema
from tests.support.lakes.delivered_tables import Delivery, LiveSchema
from tests.support.lakes.delivered_tables import live as live
from tests.support.lakes.plans import schema

KEYED = Load(type=LoadType.FULL, keys=("id",))
TENTH = struct.unpack("f", struct.pack("f", 0.1))[0]
"""What a float holds of 0.1."""
NEW_YEAR = datetime(2026, 1, 1)  # noqa: DTZ001 - a time without a zone is what it is about


def keyed(folder: Path, live: LiveSchema, kind: str) -> Delivery:
    return Delivery(folder, live, declared(kind), KEYED)


def declared(kind: str) -> TableSchema:
    """With a local time from the start: Delta takes none later."""
    return schema(id="integer", v=kind, at="timestamp_ntz")


def grow(delivery: Delivery, kind: str, *values: Any) -> None:
    delivery.published.declared = declared(kind)
    delivery.publish(*rows(*values))


def rows(*values: Any) -> list[dict[str, Any]]:
    return [{"id": number, "v": value} for number, value in enumerate(values)]


def kind_of(live: LiveSchema, column: str = "v") -> str:
    ((kind,),) = live.sql(
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
        f" WHERE attrelid = '{{table}}'::regclass AND attname = '{column}'"
    )
    return str(kind)


@pytest.mark.parametrize(
    ("before", "after", "kind", "old", "new"),
    [
        ("byte", "integer", "integer", 7, 2**31 - 1),
        ("short", "long", "bigint", 7, 2**63 - 1),
        ("integer", "long", "bigint", 7, -(2**63)),
        ("float", "double", "double precision", TENTH, 0.1),
        ("decimal(5,2)", "decimal(12,4)", "numeric(12,4)", Decimal("1.25"), Decimal("9.8765")),
        ("integer", "decimal(12,2)", "numeric(12,2)", 7, Decimal("0.25")),
        (
            "date",
            "timestamp_ntz",
            "timestamp without time zone",
            date(2026, 1, 1),
            datetime(2026, 1, 1, 12, 30),  # noqa: DTZ001
        ),
        (
            "date",
            "timestamp",
            "timestamp with time zone",
            date(2026, 1, 1),
            datetime(2026, 1, 1, 12, 30, tzinfo=UTC),
        ),
    ],
)
def test_a_wider_type_is_taken_over(
    tmp_path: Path, live: LiveSchema, before: str, after: str, kind: str, old: Any, new: Any
) -> None:
    delivery = keyed(tmp_path, live, before)
    delivery.publish(*rows(old, None))
    grow(delivery, after, new, None, new)
    assert (kind_of(live), live.version()) == (kind, 2)
    assert sorted(live.rows("id, v")) == [(0, new), (1, None), (2, new)]


def test_a_rollback_leaves_the_type_wide_and_the_values_exact(
    tmp_path: Path, live: LiveSchema
) -> None:
    delivery = keyed(tmp_path, live, "float")
    delivery.publish(*rows(TENTH))
    grow(delivery, "double", 0.1)
    delivery.published.published = 1
    delivery.deliver()
    assert (kind_of(live), live.version()) == ("double precision", 1)
    assert live.rows("id, v") == [(0, TENTH)]


def test_a_day_is_its_midnight_after_a_rollback(tmp_path: Path, live: LiveSchema) -> None:
    delivery = keyed(tmp_path, live, "date")
    delivery.publish(*rows(date(2026, 1, 1)))
    grow(delivery, "timestamp_ntz", NEW_YEAR.replace(hour=12))
    delivery.published.published = 1
    delivery.deliver()
    assert live.rows("id, v") == [(0, NEW_YEAR)]


def test_versions_after_a_rollback_are_delivered_though_they_are_narrower(
    tmp_path: Path, live: LiveSchema
) -> None:
    delivery = keyed(tmp_path, live, "integer")
    delivery.publish(*rows(1))
    delivery.published.declared = schema(id="integer", v="long", at="timestamp_ntz", more="string")
    delivery.publish({"id": 0, "v": 2**40, "more": "x"})
    delivery.published.published = 1
    delivery.deliver()
    grow(delivery, "integer", 3)
    assert (live.rows("id, v, more"), live.version()) == ([(0, 3, None)], 3)


def test_a_key_that_grows_is_held_once_still(tmp_path: Path, live: LiveSchema) -> None:
    delivery = keyed(tmp_path, live, "string")
    delivery.publish(*rows("a", "b"))
    delivery.published.declared = schema(id="long", v="string", at="timestamp_ntz")
    delivery.publish(*rows("a", "changed"), {"id": 2**40, "v": "c"})
    assert sorted(live.rows("id, v")) == [(0, "a"), (1, "changed"), (2**40, "c")]
    assert kind_of(live, "id") == "bigint"
    with pytest.raises(Exception, match="key_of_bronze_orders"):
        live.sql("INSERT INTO {table} VALUES (1, 'again')")


def test_a_view_that_stands_in_the_way_is_named_with_the_way_out(
    tmp_path: Path, live: LiveSchema
) -> None:
    delivery = keyed(tmp_path, live, "integer")
    delivery.publish(*rows(1))
    live.sql(f"CREATE VIEW {live.quoted('totals')} AS SELECT sum(v) FROM {{table}}")
    with pytest.raises(
        DeliveryFailed, match=r"cannot have v bigint: .*totals.*Drop what"
    ) as reported:
        grow(delivery, "long", 2**40)
    assert reported.value.next_step == "lakeguard run bronze.orders"
    assert (live.rows("id, v"), live.version(), kind_of(live)) == ([(0, 1)], 1, "integer")
    live.sql(f"DROP VIEW {live.quoted('totals')}")
    assert delivery.deliver() is not None, "the next run widens it"
    assert live.rows("id, v") == [(0, 2**40)]


@pytest.mark.parametrize(
    ("before", "value", "after", "other"),
    [
        ("integer", 1, "string", "1"),
        ("long", 1, "decimal(20,3)", Decimal("1.000")),
        ("long", 1, "double", 1.0),
        ("timestamp", datetime(2026, 1, 1, tzinfo=UTC), "timestamp_ntz", NEW_YEAR),
    ],
)
def test_types_of_which_neither_holds_the_other_are_refused_by_name(
    tmp_path: Path, live: LiveSchema, before: str, value: Any, after: str, other: Any
) -> None:
    delivery = keyed(tmp_path, live, before)
    delivery.publish(*rows(value))
    with pytest.raises(DeliveryFailed, match=r"column v is .* there and .* in the version: drop"):
        grow(delivery, after, other)
    assert live.rows("id, v") == [(0, value)]
