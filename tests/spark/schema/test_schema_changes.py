"""Every schema change class on real runs: what a profile accepts and what it rejects."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, Schema, write_deltalake
from deltalake.schema import PrimitiveType

from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from tests.support.lakes.changing_schemas import (
    NAME,
    ONE,
    ONE_FILE,
    Things,
    one,
)
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.folders import applied, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

WHO = pa.struct([("a", pa.int32()), ("b", pa.string()), ("C", pa.string())])
NEW_WHO = pa.struct([("a", pa.int64()), ("c", pa.string()), ("d", pa.string())])
MONEY, FINE = pa.decimal128(9, 2), pa.decimal128(9, 4)
LOCAL, ZONED = pa.timestamp("us"), pa.timestamp("us", tz="UTC")

local = datetime.fromisoformat

DECLARED = {
    "id": "long",
    "gone": "string",
    "promised": "string, nullable: false",
    "amount": '"decimal(9,2)"',
    "Kind": "string",
    "small": "integer",
    "wide": "long",
    "price": '"decimal(9,2)"',
    "at": "timestamp_ntz",
    "day": "date",
    "code": "long",
    "who": '"struct<a:integer,b:string,C:string>"',
    "sizes": '"array<integer>"',
    "marks": '"map<string,long>"',
    "odd": '"struct<x:long>"',
}

BEFORE = pa.schema(
    [
        ("id", pa.int64()), ("gone", pa.string()), ("promised", pa.string()), ("amount", MONEY),
        ("Kind", pa.string()), ("small", pa.int32()), ("wide", pa.int64()), ("price", MONEY),
        ("at", LOCAL), ("day", pa.date32()), ("code", pa.int64()), ("who", WHO),
        ("sizes", pa.list_(pa.int32())), ("marks", pa.map_(pa.string(), pa.int64())),
        ("odd", pa.struct([("x", pa.int64())])),
    ]
)  # fmt: skip
AFTER = pa.schema(
    [
        ("small", pa.int64()), ("id", pa.int64()), ("net_amount", MONEY), ("kind", pa.string()),
        ("wide", pa.int32()), ("price", FINE), ("at", ZONED), ("day", LOCAL), ("code", pa.string()),
        ("who", NEW_WHO), ("sizes", pa.list_(pa.int64())),
        ("marks", pa.map_(pa.string(), pa.int32())), ("odd", pa.struct([("x", pa.string())])),
        ("extra", pa.string()),
    ]
)  # fmt: skip

CHANGES = {
    "DROP_NULLABLE gone", "DROP_REQUIRED promised", "RENAME amount", "CASE_RENAME Kind",
    "WIDEN small", "WIDEN day", "NARROW wide", "DECIMAL_SIZE price", "TIMEZONE at",
    "INCOMPATIBLE_TYPE code", "NESTED_WIDEN who.a", "NESTED_DROP who.b",
    "NESTED_CASE_RENAME who.C", "NESTED_ADD who.d", "NESTED_WIDEN sizes[]",
    "NESTED_NARROW marks.value", "NESTED_TYPE odd.x", "ADD_NULLABLE extra", "REORDER small",
}  # fmt: skip
FIRST = {
    "id": 1, "gone": "g", "promised": "p", "amount": Decimal("1.10"), "Kind": "k", "small": 7,
    "wide": 2**40, "price": Decimal("2.20"), "at": local("2026-01-01T08:00"),
    "day": date(2026, 1, 1), "code": 11, "who": {"a": 1, "b": "b", "C": "C"}, "sizes": [1, None],
    "marks": [("x", 5)], "odd": {"x": 1},
}  # fmt: skip
SECOND = {
    "id": 2, "net_amount": Decimal("3.30"), "kind": "K", "small": 2**40, "wide": 9,
    "price": Decimal("4.4000"), "at": datetime(2026, 1, 2, 8, tzinfo=UTC),
    "day": local("2026-01-02T09:00"), "code": "12", "who": {"a": 2**40, "c": "cc", "d": "dd"},
    "sizes": [2**40], "marks": [("y", 6)], "odd": None, "extra": "more",
}  # fmt: skip
MISFITS = [
    {**SECOND, "id": 3, "code": "twelve"},
    {**SECOND, "id": 4, "price": Decimal("4.4444")},
    {**SECOND, "id": 5, "odd": {"x": "one"}},
]


@pytest.fixture
def things(tmp_path: Path) -> Things:
    """A table with one row, exactly as declared."""
    made = Things(tmp_path, DECLARED, load="{type: APPEND}", schema="{profile: STRICT}")
    made.land(BEFORE, FIRST)
    result = made.run()
    assert result.status is RunStatus.SUCCESS, result.error or result.decision
    assert made.answers() == {}
    return made


def test_strict_keeps_every_change_out_but_the_order(things: Things) -> None:
    things.land(AFTER, SECOND)
    result = things.run()
    assert result.status is RunStatus.BLOCKED
    answers = things.answers()
    assert set(answers) == CHANGES
    assert {name for name, answer in answers.items() if answer != "BLOCK"} == {"REORDER small"}
    assert list(things.rows()) == [1]
    assert things.client.reader.replay(result.run_id).identical


def test_permissive_takes_in_what_it_can_and_quarantines_the_rest(things: Things) -> None:
    things.say(schema="{profile: PERMISSIVE}")
    things.land(AFTER, SECOND, *MISFITS)
    result = things.run()
    assert result.status is RunStatus.SUCCESS, result.error or result.decision
    answers = things.answers()
    assert set(answers) == CHANGES
    assert {name for name, answer in answers.items() if answer == "QUARANTINE_ROW"} == {
        "DECIMAL_SIZE price", "INCOMPATIBLE_TYPE code", "NESTED_TYPE odd.x",
    }  # fmt: skip
    rows = things.rows()
    assert rows[1] == {
        **FIRST,
        "who": {"a": 1, "b": "b", "C": "C", "d": None},
        "day": local("2026-01-01"),
        "net_amount": None,
        "extra": None,
    }
    assert rows[2] == {
        "id": 2, "gone": None, "promised": None, "amount": None, "Kind": "K", "small": 2**40,
        "wide": 9, "price": Decimal("4.40"), "at": local("2026-01-02T08:00"),
        "day": local("2026-01-02T09:00"), "code": 12,
        "who": {"a": 2**40, "b": None, "C": "cc", "d": "dd"}, "sizes": [2**40],
        "marks": [("y", 6)], "odd": None, "net_amount": Decimal("3.30"), "extra": "more",
    }  # fmt: skip
    assert set(rows) == {1, 2}
    _quarantine_is_reported(things, result)
    assert things.client.reader.replay(result.run_id).identical


def _quarantine_is_reported(things: Things, result: RunResult) -> None:
    place = things.folder / "quarantine/bronze/things" / f"execution_id={result.run_id}"
    lines = [
        json.loads(line) for file in place.glob("*.json") for line in file.read_text().splitlines()
    ]
    assert {line["id"]: line["lg_reason"] for line in lines} == {
        3: "code is not a valid long",
        4: "price is not a valid decimal(9,2)",
        5: "odd is not a valid struct<x:long>",
    }
    facts = things.client.reader.facts(result.run_id)
    assert facts is not None
    assert facts.rejected == 3


def test_the_next_run_finds_the_table_as_it_became(things: Things) -> None:
    things.say(schema="{profile: PERMISSIVE}")
    things.land(AFTER, SECOND)
    assert things.run().version == 2
    declared = things.client.reader.definition(NAME).declared
    assert declared.type_of("small") == "long"
    assert declared.type_of("who") == "struct<a:long,b:string,C:string,d:string>"
    assert declared.names[-2:] == ("net_amount", "extra")
    things.land(BEFORE, {**FIRST, "id": 6})
    assert things.run().version == 3
    assert things.rows()[6]["small"] == 7
    assert things.rows()[6]["extra"] is None


@pytest.mark.parametrize(
    ("profile", "file", "accepted"),
    [
        ("ADDITIVE", ONE_FILE.append(pa.field("more", pa.string())), True),
        ("ADDITIVE", ONE_FILE.set(1, pa.field("n", pa.int64())), False),
        ("BACKWARD", ONE_FILE.remove(2), True),
        ("BACKWARD", ONE_FILE.set(1, pa.field("n", pa.int16())), False),
        ("FORWARD", ONE_FILE.set(1, pa.field("n", pa.int16())), True),
        ("FORWARD", ONE_FILE.set(1, pa.field("n", pa.int64())), False),
        ("FULL", ONE_FILE.remove(2).append(pa.field("other", pa.date32())), True),
        ("FULL", ONE_FILE.set(1, pa.field("n", pa.int64())), False),
        ("DEFAULT", ONE_FILE.append(pa.field("more", pa.string())), True),
        ("DEFAULT", ONE_FILE.remove(2), False),
    ],
)
def test_what_each_profile_lets_in_and_keeps_out(
    tmp_path: Path, profile: str, file: pa.Schema, accepted: bool
) -> None:
    things = one(tmp_path, "{type: APPEND}", profile)
    things.land(file, {"id": 3, "n": 3})
    result = things.run()
    assert result.status is (RunStatus.SUCCESS if accepted else RunStatus.BLOCKED), result
    assert (3 in things.rows()) is accepted


OWN = {
    "widen: ACCEPT_CAST": (RunStatus.SUCCESS, RunStatus.FAILED),
    "widen: QUARANTINE_ROW": (RunStatus.SUCCESS, RunStatus.SUCCESS),
    "widen: BLOCK": (RunStatus.BLOCKED, RunStatus.BLOCKED),
}


@pytest.mark.parametrize(("reaction", "ends"), OWN.items())
def test_a_profile_of_ones_own_answers_a_class(
    tmp_path: Path, reaction: str, ends: tuple[RunStatus, RunStatus]
) -> None:
    own = f"profile: own\nreactions: {{{reaction}}}\n"
    write_folder(tmp_path, {"definitions/profiles/own.yaml": own})
    things = one(tmp_path, "{type: APPEND}", "OWN")
    wide = ONE_FILE.set(1, pa.field("n", pa.int64()))
    for value, expected in zip((5, 2**40), ends, strict=True):
        things.land(wide, {"id": value, "n": value, "s": "c"})
        result = things.run()
        assert result.status is expected, result.error
    assert things.client.reader.definition(NAME).declared.type_of("n") == "integer"
    assert (5 in things.rows()) is (ends[0] is RunStatus.SUCCESS)
    assert 2**40 not in things.rows()


def test_fields_that_are_left_out_and_numbers_that_are_declared(tmp_path: Path) -> None:
    own = "profile: own\nallow_type_narrow: true\nreactions: {nested_add: LEFT_OUT}\n"
    write_folder(tmp_path, {"definitions/profiles/own.yaml": own})
    columns = {"id": "long", "x": '"struct<a:decimal(12,2)>"', "y": '"decimal(12,2)"'}
    things = Things(tmp_path, columns, load="APPEND", schema="{profile: own}")
    inside = pa.struct([("b", pa.string()), ("a", pa.int32())])
    file = pa.schema([("id", pa.int64()), ("x", inside), ("y", pa.int32())])
    things.land(file, {"id": 1, "x": {"a": 3, "b": "no"}, "y": 4})
    result = things.run()
    assert result.status is RunStatus.SUCCESS, result.error or result.decision
    assert things.rows()[1] == {"id": 1, "x": {"a": Decimal("3.00")}, "y": Decimal("4.00")}
    assert things.answers() == {
        "NESTED_ADD x.b": "LEFT_OUT",
        "NESTED_NARROW x.a": "ACCEPT_CAST",
        "NARROW y": "ACCEPT_CAST",
    }


def test_a_required_column_that_is_gone_fails_its_rule(tmp_path: Path) -> None:
    """BACKWARD accepts the schema; the rule on the column rejects the rows."""
    columns = {**ONE, "s": "string, required: true"}
    things = Things(tmp_path, columns, load="APPEND", schema="{profile: BACKWARD}")
    things.land(ONE_FILE.remove(2), {"id": 1, "n": 1})
    result = things.run()
    assert result.status is RunStatus.BLOCKED
    assert things.answers() == {"DROP_REQUIRED s": "ACCEPT"}
    assert result.decision is not None
    assert any("not_null" in reason for reason in result.decision.ruling.reasons)


@pytest.mark.parametrize("file", [ONE_FILE.remove(0).append(pa.field("ids", pa.int64())), None])
def test_keys_and_partitions_stay(tmp_path: Path, file: pa.Schema | None) -> None:
    load = "{type: INCREMENTAL, keys: [id], partition_by: [n]}"
    things = one(tmp_path, load, "PERMISSIVE")
    wide = ONE_FILE.set(1, pa.field("n", pa.int64()))
    things.land(file or wide, {"id": 3, "ids": 3, "n": 3, "s": "c"})
    assert things.run().status is RunStatus.BLOCKED
    changed = "KEY_CHANGE id" if file else "PARTITION_CHANGE n"
    assert {name for name, answer in things.answers().items() if answer == "BLOCK"} == {changed}


def test_notes_of_a_definition_are_told_once(tmp_path: Path) -> None:
    things = one(tmp_path, "{type: APPEND}", "STRICT")
    things.columns = {**ONE, "s": "string, tags: [pii], description: A name."}
    things.say()
    things.land(ONE_FILE, {"id": 3, "n": 3, "s": "c"})
    assert things.run().version == 2
    assert things.answers() == {"COMMENT s": "ACCEPT", "TAG s": "ACCEPT"}
    things.land(ONE_FILE, {"id": 4, "n": 3, "s": "c"})
    assert things.run().version == 3
    assert things.answers() == {}


def delta(folder: Path, **nullable: bool) -> None:
    """An external Delta table whose columns declare nullability."""
    fields = [Field(name, PrimitiveType("long"), nullable=may) for name, may in nullable.items()]
    schema = Schema(fields)
    DeltaTable.create(str(folder / "table"), schema, mode="overwrite")
    types = pa.schema([pa.field(name, pa.int64(), nullable=may) for name, may in nullable.items()])
    rows = pa.Table.from_pylist([dict.fromkeys(nullable, 1)], schema=types)
    write_deltalake(str(folder / "table"), rows, mode="append")


@pytest.mark.parametrize(
    ("profile", "answers"),
    [
        ("DEFAULT", ("ACCEPT", "ACCEPT", "LEFT_OUT")),
        ("BACKWARD", ("ACCEPT", "BLOCK", "BLOCK")),
        ("FORWARD", ("BLOCK", "ACCEPT", "ACCEPT")),
        ("PERMISSIVE", ("ACCEPT", "ACCEPT", "ACCEPT")),
    ],
)
def test_what_a_source_says_of_null(
    tmp_path: Path, profile: str, answers: tuple[str, str, str]
) -> None:
    delta(tmp_path, a=True, b=False, c=False)
    files: dict[str, str | bytes] = {
        "definitions/sources/things.yaml": "source: things\nformat: delta\npath: table\n",
        "definitions/bronze/things.yaml": f"dataset: {NAME}\nowner: tests\ndomain: shop\n"
        f"source: things\nschema: {{profile: {profile}}}\ncolumns:\n"
        "  a: {type: long, nullable: false}\n  b: {type: long}\n",
    }
    client = applied(tmp_path, files)
    result = run(client, NAME)
    seen = client.reader.schemas(NAME)[0]
    described = {item.change: item.reaction for item in seen.differences}
    relax, tighten, added = map(Reaction, answers)
    assert described == {
        SchemaChange.RELAX_NULLABILITY: relax,
        SchemaChange.TIGHTEN_NULLABILITY: tighten,
        SchemaChange.ADD_REQUIRED: added,
    }
    blocked = Reaction.BLOCK in described.values()
    assert (result.status is RunStatus.BLOCKED) is blocked, result
