"""Kinds of records: each has a JSON schema, which is registered before the first record of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field, field_validator

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.records.record import check_kind


class Expired(StrEnum):
    """What becomes of records that are older than their kind is kept."""

    ARCHIVED = "archived"
    """They move to a Parquet file that no query reads."""
    DELETED = "deleted"


class MetadataKind(FrozenModel):
    """One version of a kind. A later one accepts every payload that an earlier one accepted."""

    kind: str
    version: int = Field(default=1, ge=1)
    description: str = ""
    json_schema: dict[str, Any]
    """Of the payload (JSON Schema, draft 2020-12)."""
    identity: tuple[str, ...] = ()
    """Fields that tell two facts of one run about one target apart, as ``payload.check``. They stay
    the same in every version."""
    keep_days: int | None = Field(default=None, ge=1)
    """None keeps records for ever."""
    expired: Expired = Expired.ARCHIVED

    _kind = field_validator("kind")(check_kind)

    @field_validator("identity")
    @classmethod
    def _identity(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            root, _, rest = path.partition(".")
            if root not in ("payload", "extras", "context") or not rest:
                raise ValueError(f"{path!r} is no field: write payload.NAME or extras.NAME")
        return value
