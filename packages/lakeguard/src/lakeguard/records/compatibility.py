"""Whether a kind may be registered: a later version accepts every payload that an earlier one
accepted, so that no producer breaks and no stored record becomes invalid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from lakeguard.records.schema_widening import narrowing
from lakeguard_sdk.errors import KindRefused
from lakeguard_sdk.records.kinds import MetadataKind


def is_new_version(kind: MetadataKind, versions: Mapping[int, MetadataKind]) -> bool:
    """Whether the kind is the next of the registered versions. False if it is one of them; raises
    ``KindRefused`` if it is neither, or not compatible."""
    given = versions.get(kind.version)
    if given == kind:
        return False
    if given is not None:
        raise _refused(kind, "this version is registered with other content")
    latest = max(versions, default=0)
    if kind.version != latest + 1:
        raise _refused(kind, f"the next version is {latest + 1}")
    _require_valid(kind)
    if versions:
        _require_compatible(versions[latest], kind)
    return True


def _require_valid(kind: MetadataKind) -> None:
    for reference in _references(kind.json_schema):
        if not reference.startswith("#"):
            raise _refused(kind, f"the schema refers to {reference!r}, outside itself")
    try:
        jsonschema_rs.validator_for(kind.json_schema)
    except (ValueError, TypeError, RecursionError) as error:
        raise _refused(kind, f"its schema is no JSON schema: {str(error)[:300]}") from None


def _require_compatible(earlier: MetadataKind, kind: MetadataKind) -> None:
    if kind.identity != earlier.identity:
        raise _refused(kind, "the identity of a kind stays the same in every version")
    problem = narrowing(earlier.json_schema, kind.json_schema)
    if problem is not None:
        raise _refused(kind, f"it would refuse what version {earlier.version} accepts: {problem}")


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _refused(kind: MetadataKind, reason: str) -> KindRefused:
    return KindRefused(kind=kind.kind, version=kind.version, reason=reason)
