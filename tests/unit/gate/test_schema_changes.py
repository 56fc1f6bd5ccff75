"""Differences of a live schema from the approved one, each with its class."""

from __future__ import annotations

import pytest

from lakeguard.gate.schema.changes import (
    Approved,
    Difference,
    find_changes,
    reordered,
    revised_differences,
)
from lakeguard.gate.schema.messages import change_text
from lakeguard.gate.schema.profiles import BUILT_IN
from lakeguard.gate.schema_comparison import accepted_schema, answered
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, FromFrame
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.schema_changes import SchemaChange
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.unit.gate.cases import schema

DECLARED = schema(key="string", count="integer", amount="decimal(9,2)", part="integer")
APPROVED = Approved(
    DECLARED,
    required=frozenset({"key", "count"}),
    promised=frozenset({"count"}),
    keys=("key",),
    partition_by=("part",),
)


def live(*more: Column, **types: str) -> TableSchema:
    base = {column.name: column.type for column in DECLARED.columns} | types
    changed = {column.name for column in more}
    kept = schema(**{name: t for name, t in base.items() if t and name not in changed})
    return TableSchema(columns=(*kept.columns, *more))


def found(given: TableSchema, approved: Approved = APPROVED, *, text: bool = False) -> list[str]:
    changes = find_changes(given, approved, text_source=text)
    return [" ".join(filter(None, (c.change, c.column, c.other))) for c in changes]


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        (live(), []),
        (live(extra="string"), ["ADD_NULLABLE extra"]),
        (live(Column(name="extra", type="long", nullable=False)), ["ADD_REQUIRED extra"]),
        (live(amount=""), ["DROP_NULLABLE amount"]),
        (live(count=""), ["DROP_REQUIRED count"]),
        (live(amount="", net_amount="decimal(9,2)"), ["RENAME amount net_amount"]),
        (live(amount="", amounts="string"), ["DROP_NULLABLE amount", "ADD_NULLABLE amounts"]),
        (live(amount="", zzz="decimal(9,2)"), ["DROP_NULLABLE amount", "ADD_NULLABLE zzz"]),
        (live(key="", Key="string"), ["CASE_RENAME key Key"]),
        (live(count="", COUNT="long"), ["CASE_RENAME count COUNT", "WIDEN count"]),
        (live(count="long"), ["WIDEN count"]),
        (live(count="short"), ["NARROW count"]),
        (live(amount="decimal(9,4)"), ["DECIMAL_SIZE amount"]),
        (live(count="string"), ["INCOMPATIBLE_TYPE count"]),
        (live(part="long"), ["PARTITION_CHANGE part"]),
        (live(Column(name="count", type="integer", nullable=True)), ["RELAX_NULLABILITY count"]),
        (live(Column(name="count", type="integer", nullable=False)), []),
        (live(Column(name="key", type="string", nullable=True)), []),
        (
            live(Column(name="amount", type="decimal(9,2)", nullable=False)),
            ["TIGHTEN_NULLABILITY amount"],
        ),
    ],
)
def test_each_class_of_difference(given: TableSchema, changes: list[str]) -> None:
    assert found(given) == changes


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        (schema(id="long", day="date"), ["KEY_CHANGE id"]),
        (schema(day="date"), ["KEY_CHANGE id"]),
        (schema(ids="integer", day="date"), ["KEY_CHANGE id ids"]),
        (schema(ID="integer", day="date"), ["CASE_RENAME id ID"]),
        (schema(id="integer"), ["PARTITION_CHANGE day"]),
        (schema(id="integer", day="timestamp_ntz"), ["PARTITION_CHANGE day"]),
        (schema(id="short", day="date"), ["NARROW id"]),
    ],
)
def test_what_a_table_rests_on_stays(given: TableSchema, changes: list[str]) -> None:
    approved = Approved(schema(id="integer", day="date"), keys=("id",), partition_by=("day",))
    assert found(given, approved) == changes


def test_the_likest_names_are_paired_and_each_once() -> None:
    approved = Approved(schema(customer_id="long", customer_name="string", city="string"))
    given = schema(cust_name="string", cust_id="long", customer="string", city="string")
    assert found(given, approved) == [
        "ADD_NULLABLE customer",
        "RENAME customer_id cust_id",
        "RENAME customer_name cust_name",
    ]


def test_a_text_source_has_strings_for_every_plain_type() -> None:
    strings = schema(key="string", count="string", amount="string", part="string")
    assert found(strings, text=True) == []
    renamed = schema(key="string", counts="string", amount="string", part="string")
    assert found(renamed, text=True) == ["RENAME count counts"]
    assert "INCOMPATIBLE_TYPE count" in found(strings)


def test_the_first_column_that_stands_elsewhere() -> None:
    assert reordered(live(extra="string"), DECLARED) is None
    other = TableSchema(columns=tuple(reversed(DECLARED.columns)))
    moved = reordered(other, DECLARED)
    assert moved is not None
    assert (moved.change, moved.column) == (SchemaChange.REORDER, "part")


def test_what_a_permissive_run_goes_on_with() -> None:
    given = TableSchema(
        columns=(
            Column(name="extra", type="long", nullable=False),
            *schema(KEY="string", count="long", net_amount="decimal(9,2)", s="string").columns,
        )
    )
    approved = Approved(schema(key="string", count="integer", amount="decimal(9,2)", s="long"))
    differences = answered(find_changes(given, approved, text_source=False), BUILT_IN["permissive"])
    assert accepted_schema(approved.schema, given, differences) == schema(
        key="string",
        count="long",
        amount="decimal(9,2)",
        s="long",
        extra="long",
        net_amount="decimal(9,2)",
    )


def test_only_what_was_accepted_gets_into_the_schema() -> None:
    given = live(extra="string", count="short")
    differences = answered(find_changes(given, APPROVED, text_source=False), BUILT_IN["default"])
    assert accepted_schema(DECLARED, given, differences) == DECLARED


def defined(load: Load, **columns: ColumnDefinition) -> DatasetDefinition:
    return DatasetDefinition(
        dataset=DatasetName("silver.orders"),
        domain="test",
        owner="tests",
        build=FromFrame(),
        load=load,
        columns=tuple(columns.values()),
    )


def column(name: str, **more: object) -> ColumnDefinition:
    return ColumnDefinition.model_validate({"name": name, "type": "long", **more})


def test_what_a_person_revised_beside_names_and_types() -> None:
    old = defined(Load(type=LoadType.INCREMENTAL, keys=("a",)), a=column("a"), b=column("b"))
    new = defined(
        Load(type=LoadType.INCREMENTAL, keys=("b",), partition_by=("a",)),
        a=column("a", description="An id."),
        b=column("b", tags=("pii",)),
    )
    described = [
        (item.change, item.column, item.declared, item.found)
        for item in revised_differences(old, new, rebuilt=False)
    ]
    assert described == [
        (SchemaChange.KEY_CHANGE, "", "a", "b"),
        (SchemaChange.PARTITION_CHANGE, "", "", "a"),
        (SchemaChange.COMMENT, "a", "", "An id."),
        (SchemaChange.TAG, "b", "", "pii"),
    ]
    assert not list(revised_differences(old, old, rebuilt=False))
    rebuilt = [item.change for item in revised_differences(old, new, rebuilt=True)]
    assert SchemaChange.KEY_CHANGE not in rebuilt
    keys, *_ = answered(revised_differences(old, new, rebuilt=False), BUILT_IN["permissive"])
    assert change_text(keys) == "the keys are b, before a"


@pytest.mark.parametrize("change", SchemaChange)
def test_every_class_has_words(change: SchemaChange) -> None:
    difference = Difference("x", change, "long", "integer", "y")
    (item,) = answered([difference], BUILT_IN["default"])
    text = change_text(item)
    assert "x" in text
    assert "{" not in text
