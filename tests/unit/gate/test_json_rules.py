"""Rules about JSON in texts: what passes, and which schemas are refused where they stand."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

import pytest

from lakeguard.gate.rule_types import json
from lakeguard.gate.rules.compile import compile_rule
from lakeguard_sdk.core.enums import Outcome
from openlaketx.measure.sql import json_values
from tests.unit.gate.cases import SCHEMA, judged, refusal, row, rule

SELF = '{"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}'


def names(*values: str | None) -> list[dict[str, Any]]:
    return [row(name=value) for value in values]


def test_texts_that_are_no_json_fail() -> None:
    data = names('{"a": 1}', "[1, 2]", "null", "{", "", "NaN", '{"a": 1, "a": 2}', None)
    found = judged("json_valid(name)", data)
    assert (found.outcome, found.failed_rows, found.scope_rows) == (Outcome.FAIL, 4, 8)
    assert found.message == "4 of 8 new rows (50 %), none allowed"
    assert judged("json_valid(name) fail_if > 50%", data).outcome is Outcome.PASS


def test_keys_that_are_missing_or_not_allowed() -> None:
    data = names('{"a": 1}', '{"a": null, "b": 2}', '{"b": 2}', "[]", "{}", "{", None)
    assert judged("json_keys(name, required=['a'])", data).failed_rows == 4
    assert judged("json_keys(name, allowed=['a'])", data).failed_rows == 4
    assert judged("json_keys(name, allowed=['a', 'b'], required=['a'])", data).failed_rows == 4


def test_values_that_do_not_fit_a_schema() -> None:
    data = names("1", "2.0", "2.5", '"1"', "x", None)
    assert judged(f"json_schema(name, schema='{SELF}')", data).failed_rows == 3


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("{", "the schema is not valid JSON: Expecting property name enclosed in double quotes at"),
        ("", "the schema is not valid JSON"),
        ('{"type": "object", "type": "array"}', "a key stands twice in an object"),
        ("true", "a schema must be an object with at least one keyword"),
        ("{}", "a schema must be an object with at least one keyword"),
        ('{"nothing": 1}', "a schema must be an object with at least one keyword"),
        (
            '{"title": "orders", "format": "date"}',
            "a schema must be an object with at least one keyword",
        ),
        (
            '{"properties": {"a": {"type": "objekt"}}}',
            'invalid schema at /properties/a/type: "objekt" is',
        ),
        ('{"$ref": "#/$defs/b"}', "invalid schema: Pointer '/$defs/b' does not exist"),
        ('{"$ref": "https://example.org/x.json"}', "the schema references another"),
        ('{"$ref": "other.json"}', "the schema references another"),
        ('{"$ref": "file:///etc/passwd"}', "the schema references another"),
        ('{"$schema": "https://example.org/own", "type": "array"}', "Unknown meta-schema"),
        ('{"pattern": "(?=a)b"}', 'invalid schema at /pattern: "(?=a)b" is not a "regex"'),
        ('{"pattern": "("}', 'invalid schema at /pattern: "(" is not a "regex"'),
    ],
)
def test_a_wrong_schema_is_refused_where_it_stands(schema: str, expected: str) -> None:
    text = f"json_schema(name, schema='{schema.replace(chr(39), chr(39) * 2)}')"
    error = refusal(text)
    assert expected in error.message
    assert error.offset == text.index("'")
    assert len(error.message) < 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("json_valid(count)", "json_valid needs a string; count is integer"),
        ("json_keys(name)", "json_keys needs allowed, required or both"),
        ("json_keys(name, allowed=['a'], required=['b'])", "b is required but not allowed"),
        ("json_keys(name, required=[1])", "list keys as texts"),
        ("json_schema(name)", "json_schema needs schema"),
        ("json_schema(name, schema=1)", "schema needs a text in quotes"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    assert expected in refusal(text).message


def test_the_schema_of_a_rule_that_is_stored_is_not_judged_again() -> None:
    stored = rule('json_schema(name, schema=\'{"pattern": "(?=a)b"}\')')
    assert compile_rule(stored, SCHEMA).measures
    assert "is not a" in refusal(stored.expression).message


def test_what_says_a_schema_is_right_reads_it_as_what_judges_by_it() -> None:
    described = [_options(module) for module in (json, json_values)]
    assert described[0] == described[1]
    assert described[0].keys() == {"offline", "pattern_options", "validate_formats"}


def _options(module: ModuleType) -> dict[str | None, str]:
    """What a module says to the library beside the schema."""
    (call,) = (
        node
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "jsonschema_rs.validator_for"
    )
    return {option.arg: ast.unparse(option.value) for option in call.keywords}
