"""Registration of kinds: their schemas are valid, and a later version refuses nothing that an
earlier one accepted."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import jsonschema_rs

from lakeguard_sdk.errors import KindRefused
from lakeguard_sdk.records.kinds import MetadataKind

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_LONGEST = 65_536
"""Characters of a schema as JSON."""
_OPTIONS: dict[str, Any] = {
    "offline": True,
    "validate_formats": False,
    "pattern_options": jsonschema_rs.RegexOptions(),
}
"""No schema is fetched, and no pattern takes long."""


def validator_of(kind: MetadataKind) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(kind.json_schema, **_OPTIONS)


def is_new_version(kind: MetadataKind, registered: Collection[MetadataKind]) -> bool:
    """Whether it is to be registered after these versions of it; False if it is one of them.

    Raises ``KindRefused`` for another content of a version, a version left out, a schema that is
    not valid, and one that might refuse what an earlier one accepts.
    """
    by_version = {each.version: each for each in registered}
    same = by_version.get(kind.version)
    if same is not None:
        if same.content_hash() != kind.content_hash():
            following = max(by_version) + 1
            raise _refused(kind, f"it is registered otherwise; the next version is {following}")
        return False
    if kind.version != max(by_version, default=0) + 1:
        raise _refused(kind, f"the next version is {max(by_version, default=0) + 1}")
    _check_schema(kind)
    for earlier in sorted(registered, key=lambda each: each.version):
        _check_follows(kind, earlier)
    return True


def newest(kinds: Iterable[MetadataKind]) -> dict[str, MetadataKind]:
    """The newest version of each, by name."""
    found = {kind.kind: kind for kind in sorted(kinds, key=lambda each: each.version)}
    return dict(sorted(found.items()))


def _check_schema(kind: MetadataKind) -> None:
    schema = kind.json_schema
    if schema.get("$schema", _DRAFT) != _DRAFT:
        raise _refused(kind, f"its schema is not of draft 2020-12 ({_DRAFT})")
    if len(str(schema)) > _LONGEST:
        raise _refused(kind, f"its schema has more than {_LONGEST:,} characters")
    try:
        validator_of(kind)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        if "not present in a registry" in reason:
            reason = "only references such as #/$defs/NAME are followed"
        raise _refused(kind, f"its schema is not valid: {reason[:300]}") from None


def _check_follows(kind: MetadataKind, earlier: MetadataKind) -> None:
    if kind.identity != earlier.identity:
        raise _refused(kind, f"its identity is not that of version {earlier.version}")
    if not covers(kind.json_schema, earlier.json_schema):
        reason = f"payloads that version {earlier.version} accepts might be refused"
        raise _refused(kind, f"{reason}; register another kind")


def covers(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether the new schema certainly accepts every payload that the old one accepts."""
    try:
        wide, narrow = (
            jsonschema_rs.canonicalize(each, draft=jsonschema_rs.Draft202012, **_OPTIONS)
            for each in (new, old)
        )
        answer = wide.covers(narrow)
    except (ValueError, TypeError, RecursionError):  # a schema that the library does not know
        return False
    return answer is jsonschema_rs.canonical.Containment.YES


def _refused(kind: MetadataKind, reason: str) -> KindRefused:
    return KindRefused(kind=kind.kind, version=kind.version, reason=reason)
