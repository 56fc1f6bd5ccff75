"""Values in PostgreSQL: every type has its like there, and every value is the same."""

from __future__ import annotations

import math
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import DeliveryFailed
from lakeguard_sdk.model.load import Load
from tests.support.cases import nested_values as nested
from tests.support.lakes.delivered_tables import Delivery, LiveSchema
from tests.support.lakes.delivered_tables import live as live
from tests.support.lakes.plans import schema

DECLARED = schema(
    **{
        "id": "long", "s": "string", "p": "decimal(38,18)", "d": "double", "f": "float",
        "raw": "binary", "day": "date", "at": "timestamp", "local": "timestamp_ntz",
        "ok": "boolean", "b": "byte", "h": "short", "it's a \"name\"": "integer",
    }
)  # fmt: skip
LATE = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
EARLY = datetime(1, 1, 1, tzinfo=UTC)
FULL_ROW: dict[str, Any] = {
    "id": 2**63 - 1, "s": 'q"uo,te\n\\.\nline\r\né💥\t\\N', "p": Decimal("-0.000000000000000001"),
    "d": 1.7976931348623157e308, "f": 3.4028234663852886e38, "raw": b"\x00\xff\\", "ok": True,
    "day": date(1, 1, 1), "at": LATE, "local": EARLY.replace(tzinfo=None), "b": -128, "h": -32768,
    "it's a \"name\"": 7,
}  # fmt: skip
NOTHING: dict[str, Any] = dict.fromkeys(DECLARED.names)
ROWS = [
    FULL_ROW,
    {**NOTHING, "id": 1, "s": "", "raw": b"", "d": math.nan, "f": math.inf, "at": EARLY},
    {**NOTHING, "id": 2, "s": "NULL", "d": -math.inf, "f": math.nan, "day": date(9999, 12, 31)},
    {**NOTHING, "id": 3, "s": "\\.", "d": -0.0, "f": 1e-45, "local": LATE.replace(tzinfo=None)},
    {**FULL_ROW, "id": -(2**63), "d": 5e-324, "p": Decimal("9" * 20 + "." + "9" * 18), "ok": False},
    {**NOTHING, "id": 4},
]
KEYED = Load(type=LoadType.FULL, keys=("id",))


@pytest.mark.parametrize("keys", [(), ("id",)], ids=["replaced", "merged"])
def test_every_value_of_every_type_is_the_same_there(
    tmp_path: Path, live: LiveSchema, keys: tuple[str, ...]
) -> None:
    delivery = Delivery(tmp_path, live, DECLARED, Load(type=LoadType.FULL, keys=keys))
    delivery.publish(*({**row, "s": "before", "d": 0.0} for row in ROWS))
    made = delivery.publish(*ROWS)
    assert made is not None
    assert made.rows == len(ROWS)
    found = [dict(zip(DECLARED.names, row, strict=True)) for row in live.rows()]
    assert sorted(map(image, found)) == sorted(map(image, ROWS))


def image(row: dict[str, Any]) -> list[str]:
    """Rows are the same where they are written alike: NaN is NaN, -0.0 is not 0.0."""
    short = None if row["f"] is None else struct.pack("<f", row["f"])
    return [repr(value) for value in ({**row, "f": short}[name] for name in DECLARED.names)]


def test_the_types_are_the_nearest_that_hold_every_value(tmp_path: Path, live: LiveSchema) -> None:
    Delivery(tmp_path, live, DECLARED, KEYED).publish(FULL_ROW)
    found = live.sql(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
    )
    assert found == [
        ("id", "bigint"), ("s", "text"), ("p", "numeric(38,18)"), ("d", "double precision"),
        ("f", "real"), ("raw", "bytea"), ("day", "date"), ("at", "timestamp with time zone"),
        ("local", "timestamp without time zone"), ("ok", "boolean"), ("b", "smallint"),
        ("h", "smallint"), ("it's a \"name\"", "integer"),
    ]  # fmt: skip


def test_years_that_only_postgresql_can_say_are_kept(tmp_path: Path, live: LiveSchema) -> None:
    """Days and microseconds since 1970, as the files have them."""
    delivery = Delivery(tmp_path, live, schema(day="date", at="timestamp"), Load(type="FULL"))
    delivery.published.publish([{"day": date(2000, 1, 1), "at": EARLY}])
    (file,) = Path(delivery.published.table.location, "runs", "run_1").iterdir()
    day = pa.array([-735_000], pa.int32()).cast(pa.date32())
    at = pa.array([-63_500_000_000_000_000], pa.int64()).cast(pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"day": day, "at": at}), file)
    delivery.deliver()
    assert live.sql(
        "SELECT day - DATE '1970-01-01', extract(epoch FROM at)::bigint FROM {table}"
    ) == [(-735_000, -63_500_000_000)]


def test_columns_made_of_others_are_json(tmp_path: Path, live: LiveSchema) -> None:
    delivery = Delivery(tmp_path, live, nested.DECLARED, KEYED)
    delivery.publish(*nested.ROWS[::-1])
    delivery.publish(*nested.ROWS)
    names = nested.DECLARED.names
    found = sorted(live.rows(), key=lambda row: int(row[0]))
    assert [dict(zip(names, row, strict=True)) for row in found] == nested.SPELLED
    kinds = live.sql("SELECT DISTINCT pg_typeof(tree), pg_typeof(by_day) FROM {table}")
    assert kinds == [("jsonb", "jsonb")]


def test_a_nul_within_json_is_refused_by_column(tmp_path: Path, live: LiveSchema) -> None:
    delivery = Delivery(tmp_path, live, schema(id="long", tags="array<string>"), KEYED)
    with pytest.raises(DeliveryFailed, match="column tags: "):
        delivery.publish({"id": 1, "tags": ["a\0b"]})


def test_a_text_with_nul_is_refused_by_column(tmp_path: Path, live: LiveSchema) -> None:
    delivery = Delivery(tmp_path, live, schema(id="long", s="string"), KEYED)
    with pytest.raises(DeliveryFailed, match="column s contains the character NUL"):
        delivery.publish({"id": 1, "s": "a\0b"})
