"""Live schemas against declared ones."""

from __future__ import annotations

import pytest

from lakeguard.gate.schema_comparison import compare_schema
from lakeguard_sdk.core.enums import Enforcement, Layer, PolicyType
from lakeguard_sdk.model.definitions import PolicyDefinition
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import TableSchema
from tests.unit.gate.cases import policy, schema

DECLARED = schema(key="string", count="long", amount="decimal(9,2)", delay="double")
STRICT = policy("mode STRICT", PolicyType.SCHEMA)


def differences(
    live: TableSchema, *policies: PolicyDefinition, text_source: bool = False
) -> dict[str, str]:
    found = compare_schema(live, DECLARED, policies, Layer.SILVER, text_source=text_source)
    return {f"{item.change} {item.column}": item.reaction for item in found}


def live(**types: str) -> TableSchema:
    """The declared schema with some columns of another type; empty types are left out."""
    base = {column.name: column.type for column in DECLARED.columns}
    return schema(**{name: type for name, type in (base | types).items() if type})


def test_the_order_of_columns_is_no_difference() -> None:
    reordered = TableSchema(columns=tuple(reversed(DECLARED.columns)))
    assert differences(reordered, STRICT) == {}
    assert differences(DECLARED, STRICT) == {}


@pytest.mark.parametrize(
    ("found", "change", "reaction"),
    [
        (live(extra="string"), "ADD_NULLABLE extra", "LEFT_OUT"),
        (live(delay=""), "DROP_NULLABLE delay", "BLOCK"),
        (live(count="integer"), "NARROW count", "ACCEPT_CAST"),
        (live(amount="decimal(5,2)"), "NARROW amount", "ACCEPT_CAST"),
        (live(delay="float"), "NARROW delay", "ACCEPT_CAST"),
        (live(delay="long"), "INCOMPATIBLE_TYPE delay", "BLOCK"),
        (live(count="double"), "INCOMPATIBLE_TYPE count", "BLOCK"),
        (live(count="string"), "INCOMPATIBLE_TYPE count", "BLOCK"),
        (live(amount="decimal(10,2)"), "WIDEN amount", "BLOCK"),
        (live(key="binary"), "INCOMPATIBLE_TYPE key", "BLOCK"),
    ],
)
def test_each_difference_and_its_answer(found: TableSchema, change: str, reaction: str) -> None:
    assert differences(found) == {change: reaction}
    assert differences(found, STRICT) == {change: "BLOCK"}


NESTED = "struct<a:long,b:map<string,array<double>>>"


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        (NESTED, None),
        ("struct<b:map<string,array<double>>,a:long>", None),
        ("struct<a:integer,b:map<string,array<float>>>", "ACCEPT_CAST"),
        ("struct<b:map<string,array<float>>,a:long>", "ACCEPT_CAST"),
        ("struct<a:string,b:map<string,array<double>>>", "BLOCK"),
        ("struct<A:long,b:map<string,array<double>>>", "BLOCK"),
        ("struct<a:long>", "BLOCK"),
        ("struct<a:long,b:map<string,array<double>>,c:long>", "BLOCK"),
        ("array<long>", "BLOCK"),
        ("string", "BLOCK"),
    ],
)
def test_nested_types_are_compared_part_by_part(found: str, answer: str | None) -> None:
    declared = schema(x=NESTED)
    for text_source in (False, True):
        reported = compare_schema(
            schema(x=found), declared, (), Layer.SILVER, text_source=text_source
        )
        assert {item.reaction for item in reported} == ({answer} if answer else set())
    strict = compare_schema(schema(x=found), declared, (STRICT,), Layer.SILVER, text_source=False)
    assert {item.reaction for item in strict} == ({"BLOCK"} if answer else set())


def test_names_that_differ_in_case_are_not_one_name() -> None:
    found = live(key="", Key="string")
    assert differences(found) == {"CASE_RENAME key": "BLOCK"}


def test_a_string_of_a_text_source_is_no_difference_of_type() -> None:
    strings = schema(key="string", count="string", amount="string", delay="string")
    assert differences(strings, STRICT, text_source=True) == {}
    assert set(differences(strings).values()) == {"BLOCK"}
    extra = schema(key="string", count="string", amount="string", new="string")
    assert differences(extra, text_source=True) == {
        "ADD_NULLABLE new": "LEFT_OUT",
        "DROP_NULLABLE delay": "BLOCK",
    }


@pytest.mark.parametrize(
    ("other", "reaction"),
    [
        (policy("mode STRICT", PolicyType.SCHEMA, active=False), "LEFT_OUT"),
        (policy("mode STRICT", PolicyType.SCHEMA, Enforcement.ALERT), "LEFT_OUT"),
        (policy("mode STRICT", PolicyType.SCHEMA, layer=Layer.GOLD), "LEFT_OUT"),
        (policy("forbid tag:pii"), "LEFT_OUT"),
        (policy("mode LOOSE", PolicyType.SCHEMA), "BLOCK"),
    ],
)
def test_only_an_active_blocking_policy_of_the_layer_is_strict(
    other: PolicyDefinition, reaction: str
) -> None:
    assert differences(live(extra="string"), other) == {"ADD_NULLABLE extra": reaction}


def test_a_difference_names_both_types() -> None:
    (found,) = compare_schema(live(count="integer"), DECLARED, (), Layer.SILVER, text_source=False)
    assert found == SchemaReaction(
        column="count",
        change=SchemaChange.NARROW,
        found="integer",
        declared="long",
        reaction=Reaction.ACCEPT_CAST,
    )
