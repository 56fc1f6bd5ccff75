"""Facts that producers emit: what a record is about, who produced it, and what makes two the same.

Two records with one identity are the same fact: stored again it changes nothing, and another
content is refused unless it has a higher ``version``. The identity is the target, the kind, the
producer (of any version), where it runs and the run, or the time if there is no run; a kind may
add fields of its payload.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

from pydantic import Field, field_validator

from lakeguard_sdk.core.canonical_json import canonical_data, format_instant
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.errors import RecordConflict

LONGEST_NAME = 255
LONGEST_BODY = 262_144
"""Characters of a payload, or of extras, as JSON."""

_PRODUCER = re.compile(r"[a-z][a-z0-9_.-]*\.v[1-9][0-9]{0,5}")
_KIND = re.compile(r"[a-z][a-z0-9_]{0,99}")


def is_kind(text: str) -> bool:
    return _KIND.fullmatch(text) is not None


def check_kind(value: str) -> str:
    if not is_kind(value):
        raise ValueError("a kind is written in lower case, as recon_result")
    return value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("a name has printable characters only")
    return value


def _json(value: dict[str, Any] | None) -> dict[str, Any] | None:
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"it holds what JSON cannot: {error}") from None
    if len(text) > LONGEST_BODY:
        raise ValueError(f"it has more than {LONGEST_BODY:,} characters as JSON")
    return value


class MetadataTarget(FrozenModel):
    """The artifact that a record is about. Upper and lower case are the same."""

    source_id: str = Field(min_length=1, max_length=LONGEST_NAME)
    schema_: str = Field(default="", alias="schema", max_length=LONGEST_NAME)
    table: str = Field(min_length=1, max_length=LONGEST_NAME)
    extras: dict[str, Any] = Field(default_factory=dict)
    """Not part of the identity."""

    _names = field_validator("source_id", "schema_", "table")(_printable)
    _data = field_validator("extras")(_json)

    @cached_property
    def key(self) -> str:
        """Equal for the same artifact, and for no other."""
        return json.dumps(
            [part.casefold() for part in (self.source_id, self.schema_, self.table)],
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def __str__(self) -> str:
        return ".".join(filter(None, (self.source_id, self.schema_, self.table)))


class MetadataEnvironment(FrozenModel):
    """Where a producer runs."""

    tenant: str = Field(min_length=1, max_length=LONGEST_NAME)
    """The organisation, as in the settings."""
    cluster: str = Field(default="", max_length=LONGEST_NAME)
    workspace: str = Field(default="", max_length=LONGEST_NAME)

    _names = field_validator("tenant", "cluster", "workspace")(_printable)


class MetadataContext(FrozenModel):
    """The execution that a record comes from."""

    environment: MetadataEnvironment
    namespace: str = Field(default="default", min_length=1, max_length=LONGEST_NAME)
    """Keeps the records of teams apart; tokens may be limited to some."""
    job_id: str | None = Field(default=None, max_length=LONGEST_NAME)
    run_id: str | None = Field(default=None, max_length=LONGEST_NAME)
    extras: dict[str, Any] = Field(default_factory=dict)
    _data = field_validator("extras")(_json)

    @field_validator("namespace", "job_id", "run_id")
    @classmethod
    def _names(cls, value: str | None) -> str | None:
        return None if value is None else _printable(value)


class MetadataRecord(FrozenModel):
    """One fact."""

    target: MetadataTarget
    kind: str
    payload: dict[str, Any]
    """By the JSON schema of the kind."""
    produced_at: Instant
    producer_id: str = Field(max_length=LONGEST_NAME)
    """``name.vN``, as ``ingestion.v1``."""
    context: MetadataContext
    version: int = Field(default=1, ge=1, le=2**53)
    """Of this fact: a higher one replaces it, for instance after a back-fill with new sources."""
    quality: dict[str, Any] | None = None
    """What is known of how far the fact can be trusted."""
    extras: dict[str, Any] = Field(default_factory=dict)

    _kind = field_validator("kind")(check_kind)

    _data = field_validator("payload", "quality", "extras")(_json)

    @field_validator("producer_id")
    @classmethod
    def _producer(cls, value: str) -> str:
        if not _PRODUCER.fullmatch(value):
            raise ValueError("a producer is written as name.vN, as ingestion.v1")
        return value

    @property
    def producer(self) -> str:
        """The name of the producer, without its version."""
        return self.producer_id.rpartition(".")[0]

    def record_id(self, identity: Sequence[str] = ()) -> str:
        """The id of the fact; ``identity`` are the paths that its kind adds, as
        ``payload.check``."""
        context = self.context
        parts = [
            context.environment.tenant,
            context.namespace,
            self.kind,
            self.target.key,
            self.producer,
            context.run_id or format_instant(self.produced_at),
            *(json.dumps(self.at(path), sort_keys=True) for path in identity),
        ]
        digest = hashlib.sha256(canonical_data(parts).encode()).hexdigest()
        return f"rec_{digest[:40]}"

    def at(self, path: str) -> Any:
        """The value at a path such as ``payload.rows`` or ``context.run_id``; None if there is
        none."""
        return value_at(self.data, path)

    @cached_property
    def data(self) -> dict[str, Any]:
        return self.to_data()

    @cached_property
    def text(self) -> str:
        """The record as JSON."""
        return self.model_dump_json(by_alias=True)

    def revised(self, version: int) -> Self:
        return self.model_validate({**self.data, "version": version})


class StoredRecord(FrozenModel):
    """What became of a record."""

    record_id: str
    version: int
    is_new: bool
    """False if the same fact was there already."""


def conflict_of(record: MetadataRecord, version: int) -> RecordConflict:
    """The refusal of a record whose fact is stored with other content, as this version."""
    return RecordConflict(
        kind=record.kind, target=str(record.target), producer=record.producer, version=version
    )


def content_of(data: dict[str, Any]) -> str:
    """Equal for two records, as JSON data, that say the same: the case of a target's names does not
    matter, nor does whether a number is written as 1 or as 1.0."""
    names = {
        name: value.casefold() if isinstance(value, str) else value
        for name, value in data["target"].items()
    }
    return canonical_data({**data, "target": names})


def value_at(data: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(data, dict) or part not in data:
            return None
        data = data[part]
    return data
