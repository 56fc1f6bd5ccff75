"""Which versions of a kind may follow which: what would be refused is named."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.records.compatibility import is_new_version
from lakeguard.records.schema_widening import narrowing
from lakeguard_sdk.errors import KindRefused
from lakeguard_sdk.records.payloads import shipped_kinds
from lakeguard_sdk.testing.record_samples import seats

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "additionalProperties": False,
}
TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
NARROWER: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (CLOSED, {**CLOSED, "required": ["a"]}, "payload.a is now required"),
    (CLOSED, {**CLOSED, "properties": {}}, "payload.a is no longer accepted"),
    (CLOSED, {**CLOSED, "properties": {"a": TEXT}}, "integer is no longer accepted"),
    ({"type": "object"}, CLOSED, "payload.a: "),
    ({}, {"type": "object"}, "is no longer accepted"),
    (NUMBER, {"type": "integer"}, "number is no longer accepted"),
    ({"type": ["string", "null"]}, TEXT, "null is no longer accepted"),
    (TEXT, {**TEXT, "enum": ["a"]}, "only some values"),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}, '"b" is no longer accepted'),
    ({"enum": [1, True]}, {"enum": [1, False]}, "true is no longer accepted"),
    ({"const": 1}, {"const": 2}, "1 is no longer accepted"),
    (NUMBER, {**NUMBER, "minimum": 0}, "minimum"),
    ({**NUMBER, "minimum": 0}, {**NUMBER, "exclusiveMinimum": 0}, "minimum"),
    ({**NUMBER, "maximum": 9}, {**NUMBER, "maximum": 8}, "maximum"),
    ({**NUMBER, "multipleOf": 2}, {**NUMBER, "multipleOf": 4}, "multipleOf"),
    (TEXT, {**TEXT, "minLength": 1}, "minLength"),
    ({**TEXT, "maxLength": 9}, {**TEXT, "maxLength": 8}, "maxLength"),
    (TEXT, {**TEXT, "pattern": "a"}, "pattern is new or changed"),
    (TEXT, {**TEXT, "format": "date"}, "format is new or changed"),
    ({"type": "array"}, {"type": "array", "items": TEXT}, "payload[]"),
    ({"type": "array"}, {"type": "array", "uniqueItems": True}, "unique"),
    ({"anyOf": [TEXT, NUMBER]}, {"anyOf": [TEXT]}, "fits none"),
    ({"anyOf": [TEXT, NUMBER]}, TEXT, "is no longer accepted"),
    ({"patternProperties": {"a": {}}, "additionalProperties": False},
     {"additionalProperties": False}, "patternProperties is new or changed"),
    ({}, {"not": {"type": "null"}}, "not is new or changed"),
    ({**CLOSED, "unevaluatedProperties": False}, {"unevaluatedProperties": False}, "not compared"),
    ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, {}, "another $schema"),
]  # fmt: skip
WIDER: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (CLOSED, {**CLOSED, "description": "Of a flight."}),
    (CLOSED, {**CLOSED, "properties": {"a": {"type": "integer", "title": "A"}, "b": TEXT}}),
    (CLOSED, {**CLOSED, "additionalProperties": True}),
    ({**CLOSED, "required": ["a"]}, CLOSED),
    ({"type": "integer"}, NUMBER),
    (TEXT, {"type": ["string", "null"]}),
    (TEXT, {"anyOf": [TEXT, {"type": "null"}]}),
    ({"anyOf": [TEXT, {"type": "integer"}]}, {"anyOf": [{"type": "null"}, NUMBER, TEXT]}),
    ({"const": "a"}, {"enum": ["a", "b"], "type": "string"}),
    ({"enum": ["a", None]}, {"type": ["string", "null"]}),
    ({**NUMBER, "exclusiveMinimum": 0}, {**NUMBER, "minimum": 0}),
    ({**NUMBER, "multipleOf": 4}, {**NUMBER, "multipleOf": 2}),
    ({**TEXT, "pattern": "a", "maxLength": 5}, {**TEXT, "maxLength": 6}),
    ({"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": NUMBER}),
]


@pytest.mark.parametrize(("old", "new", "problem"), NARROWER)
def test_a_narrower_schema_is_refused_by_name(
    old: dict[str, Any], new: dict[str, Any], problem: str
) -> None:
    assert problem in (narrowing(old, new) or "")


@pytest.mark.parametrize(("old", "new"), WIDER)
def test_a_wider_schema_is_accepted(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert narrowing(old, new) is None


def test_a_recursive_schema_is_compared() -> None:
    def tree(value: dict[str, Any], name: str) -> dict[str, Any]:
        node = {
            "type": "object",
            "properties": {"value": value, "next": {"$ref": f"#/$defs/{name}"}},
            "additionalProperties": False,
        }
        return {"$ref": f"#/$defs/{name}", "$defs": {name: node}}

    assert narrowing(tree({"type": "integer"}, "a"), tree(NUMBER, "b")) is None
    found = narrowing(tree(NUMBER, "a"), tree({"type": "integer"}, "b"))
    assert found is not None
    assert "payload.value" in found


def test_a_reference_that_leads_nowhere_is_refused() -> None:
    for schema in ({"$ref": "#/$defs/none"}, {"$ref": "#"}):
        assert narrowing({"type": "string"}, schema) == "the schemas cannot be compared"


def test_every_shipped_kind_may_gain_a_field_and_lose_none() -> None:
    for kind in shipped_kinds():
        schema = kind.json_schema
        more = {**schema, "properties": {**schema["properties"], "more": TEXT}}
        assert narrowing(schema, more) is None, kind.kind
        for name in schema["properties"]:
            fewer = {key: value for key, value in schema["properties"].items() if key != name}
            assert narrowing(schema, {**schema, "properties": fewer}), (kind.kind, name)


def test_versions_follow_each_other() -> None:
    first, second = seats(), seats(2)
    assert is_new_version(first, [])
    assert is_new_version(second, [first])
    assert not is_new_version(first, [first, second])
    for kind, versions in (
        (second, []),
        (seats(3), [first]),
        (seats(description="Another."), [first]),
        (seats(2, identity=("payload.free",)), [first]),
        (seats(json_schema={"type": "integr"}), []),
        (seats(json_schema={"properties": {"a": {"$ref": "other.json"}}}), []),
    ):
        with pytest.raises(KindRefused):
            is_new_version(kind, versions)


def test_more_is_known_to_be_wider_than_can_be_named() -> None:
    """Nothing is an object of at least one and at most no properties."""
    old = {"type": "object", "minProperties": 1, "maxProperties": 0}
    first, second = seats(json_schema=old), seats(2, json_schema={"type": "null"})
    assert narrowing(first.json_schema, second.json_schema) is not None
    assert is_new_version(second, [first])
