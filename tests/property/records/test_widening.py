"""A version of a kind that is accepted refuses no payload that the one before accepted."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from hypothesis import given, note
from hypothesis import strategies as st

from lakeguard.records.kinds import covers
from tests.support.examples import examples

NAMES = st.sampled_from(["a", "b", "c"])
TEXTS = st.text("ab", max_size=3)
NUMBERS = st.integers(-2, 4) | st.sampled_from([0.5, 1.0, -1.5])
SIZES = st.integers(0, 3)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["null", "boolean", "object", "array", "number", "integer", "string"])
PLAIN = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=4),
    "const": VALUES,
    "minimum": NUMBERS,
    "exclusiveMinimum": NUMBERS,
    "maximum": NUMBERS,
    "exclusiveMaximum": NUMBERS,
    "multipleOf": st.sampled_from([1, 2, 4, 0.5]),
    "minLength": SIZES,
    "maxLength": SIZES,
    "minItems": SIZES,
    "maxItems": SIZES,
    "minProperties": SIZES,
    "maxProperties": SIZES,
    "uniqueItems": st.booleans(),
    "pattern": st.sampled_from(["a", "^b"]),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "title": st.just("A title"),
}


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    nested = {
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=1),
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner,
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "unevaluatedProperties": inner,
        "propertyNames": inner,
        "contains": inner,
    }
    return st.fixed_dictionaries({}, optional={**nested, "type": PLAIN["type"]}).map(few)


def few(schema: dict[str, Any]) -> dict[str, Any]:
    return dict(list(schema.items())[:3])


def of_plain() -> st.SearchStrategy[Any]:
    keywords = [
        st.fixed_dictionaries({name: values, **more})
        for name, values in PLAIN.items()
        for more in ({}, {"type": TYPES})
    ]
    return st.one_of(keywords) | st.booleans()


SCHEMAS = st.recursive(of_plain(), around, max_leaves=5).filter(lambda each: each != {})
OBJECTS = SCHEMAS.filter(lambda schema: isinstance(schema, dict))


@st.composite
def changed(draw: st.DrawFn, schema: Any) -> Any:
    """The schema with a change or two, somewhere inside."""
    if not isinstance(schema, dict) or not schema or draw(st.integers(0, 5)) == 0:
        return draw(SCHEMAS)
    key = draw(st.sampled_from(sorted(schema)))
    value = schema[key]
    action = draw(st.sampled_from(["drop", "within", "within", "add", "redraw"]))
    if action == "drop":
        return {name: each for name, each in schema.items() if name != key}
    if action == "add":
        return {**draw(OBJECTS), **schema}
    if action == "redraw" and key in PLAIN:
        return {**schema, key: draw(PLAIN[key])}
    if isinstance(value, dict) and key in ("properties", "patternProperties") and value:
        name = draw(st.sampled_from(sorted(value)))
        return {**schema, key: {**value, name: draw(changed(value[name]))}}
    if isinstance(value, dict):
        return {**schema, key: draw(changed(value))}
    if isinstance(value, list) and key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        at = draw(st.integers(0, len(value) - 1))
        return {**schema, key: [*value[:at], draw(changed(value[at])), *value[at + 1 :]]}
    return {**schema, "title": "Another"}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    old = draw(OBJECTS)
    new = draw(changed(old))
    return old, new if isinstance(new, dict) else {"anyOf": [new]}


@given(pairs(), st.lists(VALUES, min_size=20, max_size=40))
@examples(600)
def test_what_was_accepted_is_accepted(
    pair: tuple[dict[str, Any], dict[str, Any]], values: list[Any]
) -> None:
    old, new = pair
    if not covers(new, old):
        return
    note(f"{old} -> {new}")
    before = jsonschema_rs.Draft202012Validator(old)
    after = jsonschema_rs.Draft202012Validator(new)
    for value in values:
        assert not before.is_valid(value) or after.is_valid(value), value
