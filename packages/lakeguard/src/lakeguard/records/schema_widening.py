"""Whether one JSON schema accepts whatever another accepts.

The comparison follows the structure of the two and is conservative: it never passes a schema that
refuses something the other accepted, and refuses some that would do. Annotations do not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly")
) | {"$comment", "$defs", "definitions"}
_DROPPABLE = ("allOf", "oneOf", "not", "propertyNames", "dependentRequired", "dependentSchemas",
              "pattern", "format")  # fmt: skip
"""Each stands alone: without it, a schema accepts more."""
_COMPARED = frozenset(
    ("type", "enum", "const", "anyOf", "properties", "required", "additionalProperties")
) | {"items", "prefixItems", "uniqueItems", "multipleOf"}
_FLOORS = ("minLength", "minItems", "minProperties")
_CEILINGS = ("maxLength", "maxItems", "maxProperties")
_BOUNDS = frozenset(("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"))
_NOT_FOLLOWED = ("unevaluatedProperties", "unevaluatedItems", "$id", "$dynamicRef", "$recursiveRef")
_HANDLED = _COMPARED | _BOUNDS | {*_FLOORS, *_CEILINGS, *_DROPPABLE}
_TYPES = frozenset(("null", "boolean", "object", "array", "number", "integer", "string"))


def narrowing(old: dict[str, Any], new: dict[str, Any]) -> str | None:
    """What the new schema may refuse that the old one accepts, with its place; None if nothing."""
    if _text(old) == _text(new):
        return None
    if old.get("$schema") != new.get("$schema"):
        return "another $schema"
    try:
        return _Comparison(old, new).problem(old, new, "payload")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return "the schemas cannot be compared"


class _Comparison:
    def __init__(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        self._old, self._new = old, new
        self._assumed: set[tuple[str, str]] = set()
        """Pairs under comparison: a recursive schema comes back to them."""

    def problem(self, old: Any, new: Any, place: str) -> str | None:
        old, new = _resolved(old, self._old), _resolved(new, self._new)
        if new is True or old is False:
            return None
        if new is False:
            return f"{place} is no longer accepted"
        old, new = _plain({} if old is True else old), _plain(new)
        pair = (_text(old), _text(new))
        same = pair[0] == pair[1] and "$ref" not in pair[0]
        if not new or same or pair in self._assumed:
            return None
        self._assumed.add(pair)
        found = next(self._problems(old, new, place), None)
        if found is not None:
            self._assumed.discard(pair)
        return found

    def _problems(self, old: dict[str, Any], new: dict[str, Any], place: str) -> Iterator[str]:
        if "$ref" in old or "$ref" in new:
            yield f"{place} has a reference beside other keywords"
        elif unclear := {*_NOT_FOLLOWED} & {*old, *new}:
            yield f"{place} has {' and '.join(sorted(unclear))}, which is not compared"
        elif "anyOf" in old and len(old) == 1:
            found = (self.problem(branch, new, place) for branch in old["anyOf"])
            yield from (each for each in found if each is not None)
        elif "anyOf" in new and not self._is_in_some(old, new["anyOf"], place):
            yield f"{place} fits none of the new alternatives"
        else:
            yield from _type_problems(old, new, place)
            yield from _value_problems(old, new, place)
            yield from _bound_problems(old, new, place)
            yield from self._unlike(old, new, place)
            types = _types(old)
            if "object" in types:
                yield from self._object_problems(old, new, place)
            if "array" in types:
                yield from self._array_problems(old, new, place)

    def _is_in_some(self, old: dict[str, Any], branches: list[Any], place: str) -> bool:
        for branch in branches:
            assumed = set(self._assumed)
            if self.problem(old, branch, place) is None:
                return True
            self._assumed = assumed
        return False

    def _unlike(self, old: dict[str, Any], new: dict[str, Any], place: str) -> Iterator[str]:
        """Keywords that are compared as a whole: references in them are not followed."""
        others = {*old, *new} - _HANDLED
        for key in (*_DROPPABLE, *sorted(others)):
            if key in _DROPPABLE and key not in new:
                continue
            before, after = old.get(key), new.get(key)
            if _text(before) != _text(after) or '"$ref"' in _text(before):
                yield f"{place}: {key} is new or changed"

    def _object_problems(
        self, old: dict[str, Any], new: dict[str, Any], place: str
    ) -> Iterator[str]:
        for name in sorted(set(new.get("required", ())) - set(old.get("required", ()))):
            yield f"{place}.{name} is now required"
        had, has = old.get("properties", {}), new.get("properties", {})
        other_old = old.get("additionalProperties", True)
        other_new = new.get("additionalProperties", True)
        if "patternProperties" in old and had.keys() != has.keys():
            yield f"{place} has other properties beside patternProperties"
        for name in sorted({*had, *has}):
            before, after = had.get(name, other_old), has.get(name, other_new)
            found = self.problem(before, after, f"{place}.{name}")
            if found is not None:
                yield found
        found = self.problem(other_old, other_new, f"{place}: another property")
        if found is not None:
            yield found

    def _array_problems(
        self, old: dict[str, Any], new: dict[str, Any], place: str
    ) -> Iterator[str]:
        first_old, first_new = old.get("prefixItems", []), new.get("prefixItems", [])
        if len(first_old) != len(first_new):
            yield f"{place} has another number of prefixItems"
            return
        pairs = [*zip(first_old, first_new, strict=True)]
        pairs.append((old.get("items", True), new.get("items", True)))
        for before, after in pairs:
            found = self.problem(before, after, f"{place}[]")
            if found is not None:
                yield found
        if new.get("uniqueItems") and not old.get("uniqueItems"):
            yield f"{place}: its items have to be unique now"


def _type_problems(old: dict[str, Any], new: dict[str, Any], place: str) -> Iterator[str]:
    lost = _types(old) - _types(new)
    if lost:
        yield f"{place}: {' and '.join(sorted(lost))} is no longer accepted"


def _value_problems(old: dict[str, Any], new: dict[str, Any], place: str) -> Iterator[str]:
    had, has = _values(old), _values(new)
    if has is not None:
        lost = None if had is None else had - has
        if lost is None:
            yield f"{place}: only some values are accepted now"
        elif lost:
            yield f"{place}: {', '.join(sorted(lost))} is no longer accepted"
    step, before = new.get("multipleOf"), old.get("multipleOf")
    if step is not None and step != before:
        whole = isinstance(step, int) and isinstance(before, int)
        if not whole or before % step:
            yield f"{place}: multipleOf is new or changed"


def _bound_problems(old: dict[str, Any], new: dict[str, Any], place: str) -> Iterator[str]:
    for key in _FLOORS:
        if new.get(key, 0) > old.get(key, 0):
            yield f"{place}: {key} is now {new[key]}"
    for key in _CEILINGS:
        if key in new and (key not in old or new[key] < old[key]):
            yield f"{place}: {key} is now {new[key]}"
    if not {"number", "integer"} & _types(old):
        return
    for inclusive, exclusive, sign in (
        ("minimum", "exclusiveMinimum", 1),
        ("maximum", "exclusiveMaximum", -1),
    ):
        has = _limit(new, inclusive, exclusive, sign)
        had = _limit(old, inclusive, exclusive, sign)
        if has is not None and (had is None or had < has):
            yield f"{place}: {inclusive} is narrower"


def _limit(
    schema: dict[str, Any], inclusive: str, exclusive: str, sign: int
) -> tuple[float, bool] | None:
    """The larger, the narrower; at equal values, the exclusive one is."""
    found = [
        (sign * schema[key], key == exclusive) for key in (inclusive, exclusive) if key in schema
    ]
    return max(found, default=None)


def _types(schema: dict[str, Any]) -> frozenset[str]:
    given = schema.get("type")
    if given is not None:
        found = frozenset([given] if isinstance(given, str) else given)
        return found | {"integer"} if "number" in found else found
    values = _given_values(schema)
    return _TYPES if values is None else frozenset(map(_type_of, values))


def _values(schema: dict[str, Any]) -> frozenset[str] | None:
    """All values that are accepted, as texts; None if there is no list of them."""
    values = _given_values(schema)
    return None if values is None else frozenset(map(_text, values))


def _given_values(schema: dict[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    found: list[Any] | None = schema.get("enum")
    return found


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "integer" if value == int(value) else "number"
    return "array" if isinstance(value, list) else "object"


def _resolved(schema: Any, root: dict[str, Any]) -> Any:
    """What a local reference names; a schema with other keywords beside it stays as it is."""
    for _ in range(100):
        if not isinstance(schema, dict) or "$ref" not in _plain(schema) or len(_plain(schema)) > 1:
            return schema
        found: Any = root
        for part in schema["$ref"].removeprefix("#").strip("/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")] if part else found
        schema = found
    raise ValueError("a reference names itself")


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _ANNOTATIONS}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
