"""What every repository of this package checks before it stores a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lakeguard.records.kinds import newest, validator_of
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import RecordRefused, UnknownKind
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.record import MetadataRecord
from lakeguard_sdk.security.secret_values import holds_secret, may_hold_secret


class KnownKinds:
    """The newest version of each registered kind, with its schema compiled."""

    def __init__(self, kinds: Iterable[MetadataKind]) -> None:
        self.by_name = newest(kinds)
        self._validators: dict[str, Any] = {}

    def find(self, kind: str) -> MetadataKind:
        found = self.by_name.get(kind)
        if found is None:
            raise UnknownKind(kind=kind, hint=did_you_mean(kind, self.by_name))
        return found

    def check(self, record: MetadataRecord, tenant: str) -> str:
        """The id of the record, if it may be stored for this tenant."""
        kind = self.find(record.kind)
        given = record.context.environment.tenant
        if given != tenant:
            raise _refused(
                record, "context.environment.tenant", f"{given!r} is not this tenant, {tenant!r}"
            )
        validator = self._validators.get(kind.kind)
        if validator is None:
            validator = validator_of(kind)
            self._validators[kind.kind] = validator
        problem = next(validator.iter_errors(record.payload), None)
        if problem is not None:
            place = ".".join(["payload", *map(str, problem.instance_path)])
            raise _refused(record, place, problem.message)
        if may_hold_secret(record.text):
            for place, text in _texts(record.data, ()):
                if holds_secret(text):
                    raise _refused(record, place, "it holds a secret")
        return record.record_id(kind.identity)


def _refused(record: MetadataRecord, place: str, reason: str) -> RecordRefused:
    return RecordRefused(
        kind=record.kind, target=str(record.target), place=place, reason=reason[:500]
    )


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """All texts of JSON data, keys included, with their place."""
    if isinstance(value, str):
        yield ".".join(path), value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield ".".join(path), key
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, (*path, str(number)))
