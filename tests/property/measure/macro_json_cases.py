"""What the reference says of texts that are JSON, by Python's own reader."""

from __future__ import annotations

import json
from typing import Any

from tests.property.measure.macro_oracle import Good, Oracle, each

_LEVELS, _DIGITS = 200, 1000
_SCHEMA = '{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}'


class _NoJson(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _NoJson
    return dict(pairs)


def _number(text: str) -> Any:
    places = text.lower().partition("e")[2] or "0"
    if sum(char.isdigit() for char in text) > _DIGITS or abs(int(places)) > _DIGITS:
        raise _NoJson
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _refused(word: str) -> Any:
    raise _NoJson(word)


def _levels(value: Any) -> int:
    """How deep a value goes; a wide one is looked at level by level."""
    depth, level = 0, [value]
    while nested := [item for item in level if isinstance(item, list | dict)]:
        depth += 1
        level = [x for item in nested for x in (item.values() if isinstance(item, dict) else item)]
    return depth


def _read(text: str) -> Any:
    """The value; ValueError where the text is no JSON."""
    value = json.loads(
        text,
        object_pairs_hook=_once,
        parse_constant=_refused,
        parse_int=_number,
        parse_float=_number,
    )
    json.dumps(value, ensure_ascii=False).encode()
    if _levels(value) > _LEVELS:
        raise _NoJson
    return value


def _json(good: Good) -> Good:
    def holds(text: str) -> bool:
        try:
            return good(_read(text))
        except (ValueError, RecursionError):
            return False

    return holds


def _keys(value: Any) -> bool:
    return isinstance(value, dict) and {"id"} <= set(value) <= {"id", "at", "note"}


def _fits(value: Any) -> bool:
    if not isinstance(value, dict) or "id" not in value or isinstance(value["id"], bool):
        return False
    return isinstance(value["id"], int | float) and value["id"] == value["id"] // 1


JSON_PRIMITIVES: dict[str, Oracle] = {
    **{f"json_valid({c})": each(c, _json(lambda value: True)) for c in ("doc", "s")},
    "json_keys(doc, allowed=['id', 'at', 'note'], required=['id'])": each("doc", _json(_keys)),
    f"json_schema(doc, schema='{_SCHEMA}')": each("doc", _json(_fits)),
}
