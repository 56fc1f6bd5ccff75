"""JSON Schemas in rules: whether one means something, and where it does not."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from lakeguard_sdk.json_texts import NotJson, read_json

_LONGEST = 160
_SAYING = {
    "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
    "exclusiveMinimum", "maxLength", "minLength", "pattern", "items", "prefixItems",
    "additionalItems", "unevaluatedItems", "contains", "maxContains", "minContains", "maxItems",
    "minItems", "uniqueItems", "properties", "patternProperties", "additionalProperties",
    "unevaluatedProperties", "propertyNames", "maxProperties", "minProperties", "required",
    "dependencies", "dependentRequired", "dependentSchemas", "allOf", "anyOf", "oneOf", "not",
    "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef",
}  # fmt: skip
"""The keywords, of whichever draft, by which a value can fail."""


class BadSchema(Exception):
    """Says what is wrong with a schema, and at which place of it."""


def check_schema(text: str) -> None:
    """BadSchema unless the text is a schema that says something, and stands by itself."""
    try:
        schema = read_json(text)
    except NotJson as reason:
        raise BadSchema(f"the schema is no JSON: {reason}") from None
    if not isinstance(schema, dict) or not _SAYING & schema.keys():
        raise BadSchema('a schema is an object that says something: {"type": "object"}')
    try:
        jsonschema_rs.validator_for(
            schema,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(),
            validate_formats=False,
        )
    except jsonschema_rs.ValidationError as error:
        raise BadSchema(_told(error)) from None


def _told(error: Any) -> str:
    """The library's reason without what follows it, behind the place in the schema."""
    reason = str(error.message)[:_LONGEST]
    if "not present in a registry" in reason:
        return "the schema refers to another: only what stands in it is read, as '#/$defs/name'"
    place = "".join(f"/{part}" for part in error.instance_path)
    return f"the schema is wrong{f' at {place}' if place else ''}: {reason}"
