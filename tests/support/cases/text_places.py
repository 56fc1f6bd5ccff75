"""Every place of a JSON schema where a text may stand, as documents that hold a text there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

Schema = Mapping[str, Any]
Place = tuple[str, ...]
_MISSING = object()
_TEXTS = {"date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01"}
_BRANCHES = ("anyOf", "oneOf")


def documents_with(text: str, schema: Schema, example: Any) -> Iterator[tuple[Place, Any]]:
    """The example once for each place that the schema has, with the text there. What the example
    lacks is made; closed sets of words are no places."""
    yield from _Walk(text, schema.get("$defs", {})).walk(schema, example, ())


@dataclass
class _Walk:
    text: str
    definitions: Mapping[str, Schema]
    made: set[str] = field(default_factory=set)
    """Types that the example lacks and that were walked: each is, once."""

    def walk(self, schema: Schema, example: Any, place: Place) -> Iterator[tuple[Place, Any]]:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if example is not _MISSING or name not in self.made:
                self.made |= {name} if example is _MISSING else set()
                yield from self.walk(self.definitions[name], example, place)
            return
        for branch in (each for word in _BRANCHES for each in schema.get(word, ())):
            yield from self.walk(
                branch, example if self._fits(branch, example) else _MISSING, place
            )
        if "enum" in schema or "const" in schema:
            return
        kind = schema.get("type", "string" if not any(w in schema for w in _BRANCHES) else "")
        held = self.smallest(schema) if example is _MISSING else example
        if kind == "string":
            yield place, self.text
        elif kind == "object":
            yield from self._object(schema, held, place)
        elif kind == "array":
            yield from self._array(schema, held, place)

    def _fits(self, branch: Schema, example: Any) -> bool:
        whole = {**branch, "$defs": self.definitions}
        return example is not _MISSING and bool(jsonschema_rs.is_valid(whole, example))

    def _object(
        self, schema: Schema, held: dict[str, Any], place: Place
    ) -> Iterator[tuple[Place, Any]]:
        for name, inner in schema.get("properties", {}).items():
            for at, value in self.walk(inner, held.get(name, _MISSING), (*place, name)):
                yield at, {**held, name: value}
        values = schema.get("additionalProperties")
        if values:
            inner = {} if values is True else values
            name, value = next(iter(held.items()), ("x", _MISSING))
            made = self.smallest(inner) if value is _MISSING else value
            yield (*place, "a key"), {**held, self.text: made}
            for at, other in self.walk(inner, value, (*place, name)):
                yield at, {**held, name: other}

    def _array(self, schema: Schema, held: list[Any], place: Place) -> Iterator[tuple[Place, Any]]:
        for index, inner in enumerate(schema.get("prefixItems", ())):
            for at, value in self.walk(inner, held[index], (*place, str(index))):
                yield at, [*held[:index], value, *held[index + 1 :]]
        if isinstance(schema.get("items"), dict):
            first = held[0] if held else _MISSING
            for at, value in self.walk(schema["items"], first, (*place, "0")):
                yield at, [value, *held[1:]]

    def smallest(self, schema: Schema) -> Any:
        """What fits, with nothing that may be left out."""
        if "$ref" in schema:
            return self.smallest(self.definitions[schema["$ref"].rpartition("/")[2]])
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", (None,))[0])
        for word in _BRANCHES:
            if word in schema:
                return self.smallest(schema[word][0])
        match schema.get("type", "string"):
            case "object":
                needed = schema.get("required", ())
                inner = schema.get("properties", {})
                return {name: self.smallest(inner[name]) for name in needed}
            case "array":
                items = [self.smallest(each) for each in schema.get("prefixItems", ())]
                return items or [self.smallest(schema["items"])] * schema.get("minItems", 0)
            case "string":
                name = "bronze.numbers" if "pattern" in schema else "x"
                return _TEXTS.get(schema.get("format", ""), name)
            case "integer" | "number":
                return max(schema.get("minimum", 1), 1)
            case "boolean":
                return False
        return None
