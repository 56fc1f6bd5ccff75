"""``json_valid(column)``, ``json_keys(column, required=[…])`` and ``json_schema(column, …)``"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from lakeguard.gate.grammar.literals import Text
from lakeguard.gate.grammar.rule import Listed, ReadRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowsJudged, ask
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.json_values import NotJson, read_json
from lakeguard_sdk.expressions.measures import JsonFaults, RowCount

# JSON Schemas in rules: whether one means something, and where it does not.

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


_COST = (
    " Each different text is brought to the process that runs the load and read there, in parts, so"
    " that every engine judges alike: with many long texts that takes its time."
)


class JsonRule(RuleType):
    """Texts that are read as JSON; what cannot be read fails."""

    nulls = "NULL passes. An empty text fails; the text `null` is JSON."
    takes = "strings"

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        faults = JsonFaults(column=column, where=columns.where, **self.asked(read))
        return RowsJudged(ask(faults), ask(RowCount(where=columns.where)))

    def asked(self, read: ReadRule) -> dict[str, Any]:
        """What is asked of the value besides that there is one."""
        return {}


class JsonValid(JsonRule):
    name = "json_valid"
    summary = (
        "Every text is JSON. A key that stands twice in an object, NaN and Infinity, an escaped"
        " half of a character, more than 200 levels and a number of more than 1,000 digits fail."
        + _COST
    )
    example = "json_valid(payload)"


class JsonKeys(JsonRule):
    name = "json_keys"
    summary = (
        "Every text is a JSON object that has all keys that are required, and none but those"
        " allowed. Keys of objects inside of it are not looked at." + _COST
    )
    example = "json_keys(payload, allowed=['id', 'at', 'note'], required=['id', 'at'])"
    nulls = "NULL passes. An empty text fails; a key whose value is null is a key."
    parameters = (
        ParameterSpec("allowed", "list", "the keys that may be there"),
        ParameterSpec("required", "list", "the keys that must be there"),
    )

    def check(self, read: ReadRule) -> None:
        asked = self.asked(read)
        if not asked:
            raise read.error("type", "json_keys needs allowed, required or both")
        for index, key in enumerate(asked.get("required", ())):
            if key not in asked.get("allowed", (key,)):
                raise read.error(f"required {index}", f"{key} is required, but not allowed")

    def asked(self, read: ReadRule) -> dict[str, Any]:
        return {
            name: _texts(read, name, listed)
            for name in ("allowed", "required")
            if isinstance(listed := read.rule.parameter(name), Listed)
        }


class JsonSchema(JsonRule):
    name = "json_schema"
    summary = (
        "Every text is JSON that fits the schema, a JSON Schema of draft 4 to 2020-12; without a"
        " `$schema` it is one of 2020-12. It stands by itself: a `$ref` to anything outside of it"
        " is refused. Patterns have no look-around, and `format` is not checked." + _COST
    )
    example = 'json_schema(payload, schema=\'{"type": "object", "required": ["id"]}\')'
    nulls = "NULL passes. An empty text fails; the text `null` is a value like any other."
    parameters = (ParameterSpec("schema", "text", "the schema", required=True),)
    principal = "schema"

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        # one that is stored was looked at when it was said: another library may see it otherwise
        if read.fresh:
            try:
                check_schema(self.asked(read)["fits"])
            except BadSchema as reason:
                raise read.error("parameter schema", str(reason)) from None
        return super().compile(read, columns)

    def asked(self, read: ReadRule) -> dict[str, Any]:
        schema = read.rule.parameter("schema")
        return {"fits": schema.value if isinstance(schema, Text) else ""}


def _texts(read: ReadRule, name: str, listed: Listed) -> tuple[str, ...]:
    for index, item in enumerate(listed.items):
        if not isinstance(item, Text):
            raise read.error(f"{name} {index}", "keys are listed as texts: ['a', 'b']")
    return tuple(item.value for item in listed.items if isinstance(item, Text))
