"""Questions about records, and their answers.

Every repository answers alike: a filter is compared by ``Condition.holds`` or by what is equal to
it, records are ordered by time and then by id, and a page begins after the last record of the one
before.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import Field, field_validator, model_validator

from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget, value_at

LARGEST_PAGE = 1000
"""Records in one answer."""

FILTERED = ("payload", "extras", "quality", "context", "target")
"""What a condition may look into."""


class FieldComparison(StrEnum):
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    IN = "in"
    EXISTS = "exists"
    """Whether the field is there, and not null."""


_ORDERED = (FieldComparison.LT, FieldComparison.LE, FieldComparison.GT, FieldComparison.GE)


class Condition(FrozenModel):
    """One field compared with one value. Numbers are compared with numbers and texts with texts; a
    field of another type, or that is missing, meets only ``ne`` and ``exists: false``."""

    path: str
    comparison: FieldComparison
    value: Any

    @model_validator(mode="after")
    def _valid(self) -> Condition:
        root, _, rest = self.path.partition(".")
        if root not in FILTERED or not rest or ".." in self.path or self.path.endswith("."):
            raise ValueError(
                f"{self.path!r} is no field to filter by: write payload.NAME, extras.NAME,"
                " context.NAME, quality.NAME or target.NAME"
            )
        wanted = self.value
        if self.comparison is FieldComparison.IN:
            if not (isinstance(wanted, list | tuple) and all(map(_is_plain, wanted))):
                raise ValueError(f"{self.path} in: needs a list of texts, numbers or flags")
        elif self.comparison is FieldComparison.EXISTS:
            if not isinstance(wanted, bool):
                raise ValueError(f"{self.path} exists: needs true or false")
        elif not _is_plain(wanted):
            raise ValueError(f"{self.path}: compare it with a text, a number or a flag")
        elif self.comparison in _ORDERED and isinstance(wanted, bool):
            raise ValueError(f"{self.path}: a flag has no order")
        return self

    def holds(self, data: dict[str, Any]) -> bool:
        """Whether a record, as JSON data, meets the condition."""
        found, wanted = value_at(data, self.path), self.value
        match self.comparison:
            case FieldComparison.EXISTS:
                return (found is not None) is wanted
            case FieldComparison.IN:
                return any(_equal(found, each) for each in wanted)
            case FieldComparison.EQ:
                return _equal(found, wanted)
            case FieldComparison.NE:
                return not _equal(found, wanted)
        if not _comparable(found, wanted):
            return False
        match self.comparison:
            case FieldComparison.LT:
                return bool(found < wanted)
            case FieldComparison.LE:
                return bool(found <= wanted)
            case FieldComparison.GT:
                return bool(found > wanted)
            case _:
                return bool(found >= wanted)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _comparable(found: Any, wanted: Any) -> bool:
    both_texts = isinstance(found, str) and isinstance(wanted, str)
    return both_texts or (_is_number(found) and _is_number(wanted))


def _equal(found: Any, wanted: Any) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return _comparable(found, wanted) and bool(found == wanted)


class MetadataQuery(FrozenModel):
    """Which records to read. Everything that is given has to hold."""

    kinds: tuple[str, ...] = ()
    """Of any kind if empty."""
    targets: tuple[MetadataTarget, ...] = ()
    namespaces: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    """As ``{"extras.window_start": {"ge": "2026-01-01"}, "payload.status": "fail"}``."""
    since: Instant | None = None
    """By the time a record was produced, inclusive."""
    until: Instant | None = None
    """Exclusive."""
    order: str = "-produced_at"
    """``-produced_at`` for the newest first, or ``produced_at``."""
    every_version: bool = False
    """Also what a higher version of the same fact replaced."""
    page_size: int = Field(default=100, ge=1, le=LARGEST_PAGE)
    page_token: str = ""
    """Where the page before ended."""

    @field_validator("where", mode="before")
    @classmethod
    def _conditions(cls, given: Any) -> Any:
        """Also of JSON that is read strictly, where what a validator makes is of its type."""
        if isinstance(given, list | tuple):
            return tuple(
                Condition.model_validate(each) if isinstance(each, dict) else each for each in given
            )
        if not isinstance(given, dict):
            return given
        return tuple(
            Condition.model_validate({"path": path, "comparison": comparison, "value": value})
            for path, wanted in given.items()
            for comparison, value in (
                wanted if isinstance(wanted, dict) else {"eq": wanted}
            ).items()
        )

    @field_validator("order")
    @classmethod
    def _order(cls, value: str) -> str:
        if value not in ("produced_at", "-produced_at"):
            raise ValueError("order by produced_at, or by -produced_at for the newest first")
        return value

    @property
    def newest_first(self) -> bool:
        return self.order.startswith("-")

    def matches(self, record: MetadataRecord) -> bool:
        """Whether the record belongs to the answer, whatever its version and page."""
        if self.kinds and record.kind not in self.kinds:
            return False
        if self.targets and record.target.key not in {target.key for target in self.targets}:
            return False
        if self.namespaces and record.context.namespace not in self.namespaces:
            return False
        if self.since is not None and record.produced_at < self.since:
            return False
        if self.until is not None and record.produced_at >= self.until:
            return False
        return all(condition.holds(record.data) for condition in self.where)


class RecordPage(FrozenModel):
    records: tuple[MetadataRecord, ...]
    next_page: str = ""
    """The token of the next page; empty if this is the last one."""

    def __iter__(self) -> Iterator[MetadataRecord]:  # type: ignore[override]
        return iter(self.records)


class RecordTail(FrozenModel):
    """Records in the order in which the repository stored them, each once."""

    records: tuple[MetadataRecord, ...]
    cursor: str
    """Where to go on: the next call returns what was stored since."""

    def __iter__(self) -> Iterator[MetadataRecord]:  # type: ignore[override]
        return iter(self.records)
