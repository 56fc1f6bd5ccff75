"""``json_valid(column)``, ``json_keys(column, required=[…])`` and ``json_schema(column, …)``"""

from __future__ import annotations

from typing import Any

from lakeguard.gate.json_schemas import BadSchema, check_schema
from lakeguard.gate.judgement import RowsJudged, ask
from lakeguard.gate.literals import Text
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule import Listed
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard_sdk.measure import JsonFaults, RowCount

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
