"""Values of every type are unchanged, in the table and in quarantine."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from tests.support.lakes.quarantining_tables import Row, SiftedTable

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
COLUMNS = {
    "id": "long", "b": "byte", "s": "short", "i": "integer", "f": "float", "d": "double",
    "p9": "decimal(9,2)", "p18": "decimal(18,4)", "p38": "decimal(38,18)", "text": "string",
    "yes": "boolean", "raw": "binary", "day": "date", "at": "timestamp", "local": "timestamp_ntz",
    "a b.c`d": "string", "list": "array<decimal(9,2)>", "map": "map<string,array<float>>",
    "made": "struct<x:integer,y:struct<z:timestamp,w:map<long,string>>>",
}  # fmt: skip
OLD = datetime(1, 1, 1, tzinfo=UTC)
LATE = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
ODD = (0.0, -0.0, float("nan"), float("inf"), -float("inf"), 5e-324)


def row(number: int, at: datetime, odd: float) -> Row:
    return {
        "id": number, "b": -128, "s": 32767, "i": -(2**31), "f": 0.1, "d": odd,
        "p9": Decimal("-1234567.89"), "p18": Decimal("0.0001"),
        "p38": Decimal("12345678901234567890.123456789012345678"),
        "text": "é💥" * 40, "yes": True, "raw": b"\x00\xff", "day": at.date(),
        "at": at, "local": at.replace(tzinfo=None), "a b.c`d": "odd",
        "list": [Decimal("0.01"), None], "map": [("k", [odd, None]), ("l", None)],
        "made": {"x": None, "y": {"z": at, "w": [(1, None), (2, "é")]}},
    }  # fmt: skip


def empty(number: int) -> Row:
    return {**dict.fromkeys(COLUMNS), "id": number, "list": [], "map": [], "made": {"x": 1}}


def bits(value: Any) -> Any:
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, dict):
        return [(name, bits(part)) for name, part in value.items()]
    return [bits(part) for part in value] if isinstance(value, list | tuple) else value


def rows() -> list[Row]:
    """Alternately passing and failing, so that both parts have every value."""
    made = [row(0, at, odd) for at in (OLD, LATE) for odd in ODD] + [empty(0)]
    return [{**item, "id": sign * (at + 1)} for at, item in enumerate(made) for sign in (1, -1)]


def described(found: list[Row]) -> list[Any]:
    return [bits({name: item[name] for name in COLUMNS}) for item in sorted(found, key=_number)]


def _number(item: Row) -> int:
    return int(item["id"])


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize(
    "load",
    [Load(type=LoadType.APPEND), Load(type=LoadType.INCREMENTAL, keys=("id",))],
    ids=str,
)
def test_every_type(tmp_path: Path, load: Load, engine: str) -> None:
    things = SiftedTable(tmp_path, load, COLUMNS, {"id": "gt(id, value=0)"})
    things.runs.settings = {"measure_with": engine}
    landed = rows()
    things.land(*landed)
    (source,) = (tmp_path / "in").iterdir()
    origin = pq.read_table(source).to_pylist()
    assert things.run().status is RunStatus.SUCCESS
    places = [Path(things.runs.location, file.path) for file in things.evidence.files]
    shown = [item for place in places for item in pq.read_table(place).to_pylist()]
    kept = things.kept().to_pylist()
    assert described(shown) == described([item for item in origin if item["id"] > 0])
    assert described(kept) == described([item for item in origin if item["id"] < 0])


def test_a_partition_of_every_kind_keeps_its_value(tmp_path: Path) -> None:
    columns = {"id": "long", "day": "date", "a.b": "string", "yes": "boolean", "n": "integer"}
    things = SiftedTable(
        tmp_path,
        Load(type=LoadType.APPEND),
        columns,
        {"id": "gt(id, value=0)"},
        ("day", "a.b", "yes", "n"),
    )
    parts = [
        {"day": date(2026, 6, 1), "a.b": "x/y=é", "yes": True, "n": 1},
        {"day": None, "a.b": None, "yes": None, "n": None},
    ]
    things.land(*({"id": sign * n, **part} for n, part in enumerate(parts, 1) for sign in (1, -1)))
    assert things.run().status is RunStatus.SUCCESS
    found = {file.partition["a.b"]: file.partition for file in things.evidence.files}
    assert found["x/y=é"] == {"day": "2026-06-01", "a.b": "x/y=é", "yes": "true", "n": "1"}
    assert found[None] == dict.fromkeys(parts[0])
    assert things.shown("id") == [1, 2]
    assert things.filed() == {"id": [-1, -2]}


def test_values_of_tagged_columns_are_in_no_statistics_and_no_reason(tmp_path: Path) -> None:
    things = SiftedTable(
        tmp_path, Load(type=LoadType.APPEND), {"id": "long", "name": "string"},
        {"name": "not_regex(name, pattern='secret [A-Z][a-z]+')"},
    )  # fmt: skip
    things.runs.redacted_statistics = ("name",)
    things.land({"id": 1, "name": "Ada"}, {"id": 2, "name": "secret Bob"})
    things.run()
    assert "Ada" not in things.evidence.model_dump_json()
    assert "Bob" not in things.evidence.model_dump_json()
    assert "Bob" not in str(things.kept().column("lg_reason").to_pylist())
    (file,) = things.quarantined.files
    footer = pq.read_metadata(tmp_path / file.path)
    assert all(
        footer.row_group(0).column(at).statistics is None for at in range(footer.num_columns)
    )
