"""Whether a kind may be registered: a later version accepts every payload that an earlier one
accepted, so that no producer breaks and no stored record becomes invalid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jsonschema_rs

from lakeguard.records.schema_widening import narrowing
from lakeguard_sdk.errors import KindRefused
from lakeguard_sdk.records.kinds import MetadataKind

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_OPTIONS: dict[str, Any] = {
    "offline": True,
    "validate_formats": False,
    "pattern_options": jsonschema_rs.RegexOptions(),
}
"""No schema is fetched, and no pattern takes long."""
_LONGEST = 65_536
"""Characters of a schema."""


def is_new_version(kind: MetadataKind, registered: Iterable[MetadataKind]) -> bool:
    """Whether the kind is the next of its registered versions. False if it is one of them; raises
    ``KindRefused`` if it is neither, or not compatible."""
    versions = {each.version: each for each in registered}
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
    if kind.json_schema.get("$schema", _DRAFT) != _DRAFT:
        raise _refused(kind, f"its schema is not of {_DRAFT}")
    if len(str(kind.json_schema)) > _LONGEST:
        raise _refused(kind, f"its schema has more than {_LONGEST:,} characters")
    try:
        jsonschema_rs.Draft202012Validator(kind.json_schema, **_OPTIONS)
    except (ValueError, TypeError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        if "not present in a registry" in reason:
            reason = "it refers to another schema; only references such as #/$defs/NAME are read"
        raise _refused(kind, f"its schema is not valid: {reason[:300]}") from None


def _require_compatible(earlier: MetadataKind, kind: MetadataKind) -> None:
    if kind.identity != earlier.identity:
        raise _refused(kind, "the identity of a kind stays the same in every version")
    problem = narrowing(earlier.json_schema, kind.json_schema)
    if problem is not None and not covers(kind.json_schema, earlier.json_schema):
        raise _refused(kind, f"it would refuse what version {earlier.version} accepts: {problem}")


def covers(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether it is certain that the new schema accepts whatever the old one does. It knows more
    schemas than ``narrowing``, but does not say what is narrower."""
    try:
        wide, narrow = (
            jsonschema_rs.canonicalize(each, draft=jsonschema_rs.Draft202012, **_OPTIONS)
            for each in (new, old)
        )
        answer = wide.covers(narrow)
    except (ValueError, TypeError, RecursionError):  # a schema that it does not know
        return False
    return answer is jsonschema_rs.canonical.Containment.YES


def _refused(kind: MetadataKind, reason: str) -> KindRefused:
    return KindRefused(kind=kind.kind, version=kind.version, reason=reason)
