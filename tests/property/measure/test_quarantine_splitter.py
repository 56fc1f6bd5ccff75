"""What is kept out and what remains are together what was staged, bit by bit, each row once."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.model.quarantine import QUARANTINE_COLUMNS
from lakeguard_sdk.storage.storage import LocalStorage, join
from lakeguard_sdk.types.schema import Column, TableSchema
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
    type_text,
)
from openlaketx.engine.parquet_writer import AS_SPARK
from openlaketx.loads import Existing
from openlaketx.quarantine import QuarantineSplitter
from openlaketx.stage.candidate import Candidate, collect_folder
from tests.support.cases.arrow_types import arrow_of, values_of
from tests.support.examples import examples
from tests.support.lakes.plans import DATASET, parquet, plan
from tests.support.lakes.quarantining_tables import compiled
from tests.support.strategies.column_types import column_types, names

Row = dict[str, Any]
Fails = Callable[[Row, list[Row]], bool]
N, TEXT, SIGN = "n_", "text_", "sign_"
OWN = {N: "long", TEXT: "string", SIGN: "double"}


def _is_no_json(text: str | None) -> bool:
    try:
        json.loads("null" if text is None else text)
    except ValueError:
        return True
    return False


def _twice(row: Row, rows: list[Row]) -> bool:
    return row[N] is not None and sum(other[N] == row[N] for other in rows) > 1


RULES: dict[str, tuple[str, Fails]] = {
    "a_least": (f"ge({N}, value=0)", lambda row, _: row[N] is not None and row[N] < 0),
    "b_there": (f"not_null({N})", lambda row, _: row[N] is None),
    "c_json": (
        f"json_valid({TEXT}) where {N} >= 0",
        lambda row, _: row[N] is not None and row[N] >= 0 and _is_no_json(row[TEXT]),
    ),
    "d_once": (f"unique({N}) scope batch", _twice),
    "e_sign": (
        f"le({SIGN}, value=1)",
        lambda row, _: row[SIGN] is not None and not row[SIGN] <= 1,
    ),
}  # fmt: skip


class World(NamedTuple):
    columns: dict[str, ColumnType]
    files: list[list[Row]]
    rules: list[str]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    taken = {*OWN, *QUARANTINE_COLUMNS, "file_row_number"}
    free = names.filter(lambda name: name.strip() and name.casefold() not in taken)
    drawn = draw(st.lists(free, max_size=3, unique_by=str.casefold))
    columns = {name: draw(column_types) for name in drawn}
    parts = {name: values_of(kind) for name, kind in columns.items()}
    parts |= {
        N: st.none() | st.integers(-1, 4),
        TEXT: st.sampled_from([None, "{}", "{", "1", ""]),
        SIGN: st.sampled_from([None, 0.0, -0.0, 1.0, 2.0, float("nan"), float("inf")]),
    }
    rows = st.fixed_dictionaries(parts)
    files = draw(st.lists(st.lists(rows, min_size=1, max_size=6), min_size=1, max_size=3))
    rules = draw(st.lists(st.sampled_from(sorted(RULES)), min_size=1, unique=True))
    own = {name: parse_type(kind) for name, kind in OWN.items()}
    return World({**columns, **own}, files, sorted(rules))


def bits(value: Any) -> Any:
    """The value, with every float told by its bits."""
    if isinstance(value, float):
        return struct.pack("<d", value) if value == value else b"nan"
    if isinstance(value, dict):
        return tuple((name, bits(part)) for name, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(bits, value))
    return value


def staged(world: World, folder: Path, schema: TableSchema) -> Candidate:
    types = pa.schema([(name, _spark_like(kind)) for name, kind in world.columns.items()])
    for number, rows in enumerate(world.files):
        place = folder / "runs" / "run_1" / f"part-{number}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(place, types, **AS_SPARK) as writer:
            for start in range(0, len(rows), 2):  # row groups of two
                writer.write_table(pa.Table.from_pylist(rows[start : start + 2], types))
    return collect_folder(str(folder), "runs/run_1", schema, str(DATASET), LocalStorage())


def _spark_like(found: ColumnType) -> pa.DataType:
    match found:
        case ArrayOf(element=element):
            return pa.list_(pa.field("element", _spark_like(element)))
        case StructOf(fields=fields):
            return pa.struct([(name, _spark_like(part)) for name, part in fields])
        case MapOf(key=key, value=value):
            return pa.map_(_spark_like(key), _spark_like(value))
    return arrow_of(found)


@given(worlds())
@examples(120)
def test_every_row_is_in_one_part_as_it_was(world: World) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        columns = tuple(Column(name=n, type=type_text(t)) for n, t in world.columns.items())
        schema = TableSchema(columns=columns)
        table = folder / "table"
        before = staged(world, table, schema)
        read = [pq.read_table(join(before.location, f.path)).to_pylist() for f in before.files]
        rows = [row for held in read for row in held]
        asked = compiled({rule: RULES[rule][0] for rule in world.rules}, schema)
        made = plan(folder, parquet(), schema, location=str(table), quarantine_rules=asked)
        splitter = QuarantineSplitter(made, str(folder), LocalStorage(), None)
        kept = splitter.split_rows(before, schema, Existing(str(table), schema, {}, {}, {})).passed
        assert splitter.unmeasured == {}

        failed = [[r for r in world.rules if RULES[r][1](row, rows)] for row in rows]
        remains = [row for row, rules in zip(rows, failed, strict=True) if not rules]
        assert _counted(_read(kept)) == _counted(remains)
        quarantined = splitter.quarantined
        assert (quarantined is None) == (remains == rows or not any(failed))
        for rule in world.rules:
            own = [row for row, rules in zip(rows, failed, strict=True) if rules[:1] == [rule]]
            files = [f for f in (quarantined.files if quarantined else ()) if f.rule_id == rule]
            found = [r for f in files for r in pq.read_table(folder / f.path).to_pylist()]
            assert _counted(_without(found)) == _counted(own)
        _assert_rules(folder, splitter, rows, failed)


def _assert_rules(
    folder: Path, splitter: QuarantineSplitter, rows: list[Row], failed: list[list[str]]
) -> None:
    files = splitter.quarantined.files if splitter.quarantined else ()
    described = [row for f in files for row in pq.read_table(folder / f.path).to_pylist()]
    wanted = [(bits(row), tuple(rules)) for row, rules in zip(rows, failed, strict=True) if rules]
    found = zip(_without(described), described, strict=True)
    assert Counter((bits(row), tuple(kept["lg_rules"])) for row, kept in found) == Counter(wanted)


def _read(candidate: Candidate) -> list[Row]:
    files = [join(candidate.location, file.path) for file in candidate.files]
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def _without(rows: list[Row]) -> list[Row]:
    return [{k: v for k, v in row.items() if k not in QUARANTINE_COLUMNS} for row in rows]


def _counted(rows: list[Row]) -> Counter[Any]:
    return Counter(map(bits, rows))
