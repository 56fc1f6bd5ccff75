"""``json_valid(column)``, ``json_keys(column, required=[…])`` and ``json_schema(column, …)``"""

from __future__ import annotations

from typing import Any

from lakeguard.gate.grammar.literals import Text
from lakeguard.gate.grammar.rule import Listed, ParsedRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowCheck, measure_ref
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.json_values import NotJson, read_json
from lakeguard_sdk.expressions.measures import JsonFaults, RowCount

# JSON Schemas in rules: whether one is valid and restricts anything.

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
"""Keywords of all drafts that can make a value fail."""


class BadSchema(Exception):
    """What is wrong with a schema, and where."""


def check_schema(text: str) -> None:
    """Raises BadSchema unless the text is a self-contained schema that restricts something."""
    try:
        schema = read_json(text)
    except NotJson as reason:
        raise BadSchema(f"the schema is not valid JSON: {reason}") from None
    if not isinstance(schema, dict) or not _SAYING & schema.keys():
        raise BadSchema('a schema must be an object with at least one keyword: {"type": "object"}')
    import jsonschema_rs  # few rules have a schema

    try:
        jsonschema_rs.validator_for(
            schema,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(),
            validate_formats=False,
        )
    except jsonschema_rs.ValidationError as error:
        raise BadSchema(_reason(error)) from None


def _reason(error: Any) -> str:
    """The library's reason without details, prefixed with the place in the schema."""
    reason = str(error.message)[:_LONGEST]
    if "not present in a registry" in reason:
        return (
            "the schema references another one: only local references such as '#/$defs/name' are "
            "supported"
        )
    place = "".join(f"/{part}" for part in error.instance_path)
    return f"invalid schema{f' at {place}' if place else ''}: {reason}"


_COST = (
    " Distinct texts are collected in batches to the process that runs the load and parsed "
    "there, so that every engine gives the same result: many long texts take a while."
)


class JsonRule(RuleType):
    """Texts parsed as JSON; a text that is not JSON fails."""

    nulls = "NULL passes. An empty text fails; the text `null` is valid JSON."
    takes = "strings"

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        faults = JsonFaults(column=column, where=columns.where, **self.requirements(read))
        return RowCheck(measure_ref(faults), measure_ref(RowCount(where=columns.where)))

    def requirements(self, read: ParsedRule) -> dict[str, Any]:
        """Requirements on the value besides being valid JSON."""
        return {}


class JsonValid(JsonRule):
    name = "json_valid"
    summary = (
        "Every text is valid JSON. Duplicate keys in an object, NaN and Infinity, an escaped "
        "lone surrogate, more than 200 levels and numbers of more than 1,000 digits fail."
    ) + _COST
    example = "json_valid(payload)"


class JsonKeys(JsonRule):
    name = "json_keys"
    summary = (
        "Every text is a JSON object that has every required key and only allowed keys. Keys "
        "of nested objects are not checked."
    ) + _COST
    example = "json_keys(payload, allowed=['id', 'at', 'note'], required=['id', 'at'])"
    nulls = "NULL passes. An empty text fails; a key counts even if its value is null."
    parameters = (
        ParameterSpec("allowed", "list", "keys that may be present"),
        ParameterSpec("required", "list", "keys that must be present"),
    )

    def check(self, read: ParsedRule) -> None:
        requirements = self.requirements(read)
        if not requirements:
            raise read.error("type", "json_keys needs allowed, required or both")
        for index, key in enumerate(requirements.get("required", ())):
            if key not in requirements.get("allowed", (key,)):
                raise read.error(f"required {index}", f"{key} is required but not allowed")

    def requirements(self, read: ParsedRule) -> dict[str, Any]:
        return {
            name: _texts(read, name, listed)
            for name in ("allowed", "required")
            if isinstance(listed := read.rule.parameter(name), Listed)
        }


class JsonSchema(JsonRule):
    name = "json_schema"
    summary = (
        "Every text is JSON that conforms to the schema, a JSON Schema of draft 4 to 2020-12 "
        "(the default without `$schema`). References outside of the schema are refused, "
        "patterns do not support look-around, and `format` is not checked."
    ) + _COST
    example = 'json_schema(payload, schema=\'{"type": "object", "required": ["id"]}\')'
    nulls = "NULL passes. An empty text fails; the text `null` is a value like any other."
    parameters = (ParameterSpec("schema", "text", "the schema", required=True),)
    principal = "schema"

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        # stored schemas were checked when the rule was written; another library version may differ
        if read.fresh:
            try:
                check_schema(self.requirements(read)["fits"])
            except BadSchema as reason:
                raise read.error("parameter schema", str(reason)) from None
        return super().compile(read, columns)

    def requirements(self, read: ParsedRule) -> dict[str, Any]:
        schema = read.rule.parameter("schema")
        return {"fits": schema.value if isinstance(schema, Text) else ""}


def _texts(read: ParsedRule, name: str, listed: Listed) -> tuple[str, ...]:
    for index, item in enumerate(listed.items):
        if not isinstance(item, Text):
            raise read.error(f"{name} {index}", "list keys as texts: ['a', 'b']")
    return tuple(item.value for item in listed.items if isinstance(item, Text))
