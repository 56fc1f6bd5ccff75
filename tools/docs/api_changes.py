"""What breaks callers between two OpenAPI documents: something removed, or something required."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]


def require_compatible(before: Document, after: Document) -> None:
    """Raises ``ValueError`` if callers break and the version does not say so: another minor version
    before 1.0.0, another major one from then on."""
    broken = breaking_changes(before, after)
    if broken and _promise(before) == _promise(after):
        raise ValueError("the API breaks its callers; increase API_VERSION: " + "; ".join(broken))


def _promise(document: Document) -> tuple[str, str]:
    major, minor, _ = document["info"]["version"].split(".")
    return major, minor if major == "0" else ""


def breaking_changes(before: Document, after: Document) -> list[str]:
    return [
        *_paths(before["paths"], after["paths"]),
        *_models(before["components"]["schemas"], after["components"]["schemas"]),
    ]


def _paths(before: Document, after: Document) -> Iterator[str]:
    for path, verbs in before.items():
        for verb, operation in verbs.items():
            now = after.get(path, {}).get(verb)
            if now is None:
                yield f"{verb} {path} is gone"
                continue
            yield from _operation(f"{verb} {path}", operation, now)


def _operation(name: str, before: Document, after: Document) -> Iterator[str]:
    known, now = _parameters(before), _parameters(after)
    for key, parameter in known.items():
        if key not in now:
            yield f"{name}: {key} is gone"
        elif parameter["schema"] != now[key]["schema"]:
            yield f"{name}: {key} has other values"
    for key, parameter in now.items():
        if parameter.get("required") and not known.get(key, {}).get("required"):
            yield f"{name}: {key} is required"
    for part in ("requestBody", "x-result"):
        if before.get(part) != after.get(part):
            yield f"{name}: another {part}"
    good = [status for status in before["responses"] if status.startswith("2")]
    for status in good:
        if before["responses"][status] != after["responses"].get(status):
            yield f"{name}: another answer"


def _parameters(operation: Document) -> dict[str, Any]:
    return {f"{each['in']} {each['name']}": each for each in operation.get("parameters", ())}


def _models(before: Document, after: Document) -> Iterator[str]:
    for name, model in before.items():
        now = after.get(name)
        if now is None:
            yield f"{name} is gone"
            continue
        fields, left = model.get("properties", {}), now.get("properties", {})
        for field, schema in fields.items():
            if field not in left:
                yield f"{name}.{field} is gone"
            elif _shape(schema) != _shape(left[field]):
                yield f"{name}.{field} has other values"
        for field in set(now.get("required", ())) - set(model.get("required", ())):
            if not name.endswith(("Answer", "-Output")):
                yield f"{name}.{field} is required"
        if set(model.get("enum", ())) - set(now.get("enum", ())):
            yield f"{name} lacks values"


def _shape(schema: Any) -> Any:
    """Without texts for people."""
    if isinstance(schema, dict):
        texts = ("description", "title", "examples")
        return {name: _shape(each) for name, each in schema.items() if name not in texts}
    return [_shape(each) for each in schema] if isinstance(schema, list) else schema
