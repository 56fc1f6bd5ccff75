"""The table metadata, and which columns of which tables are mutable."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import DateTime, Dialect, Index, MetaData, String, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex
from sqlalchemy.types import TypeDecorator, TypeEngine

from lakeguard_sdk.core.canonical_json import format_instant

if TYPE_CHECKING:
    from sqlalchemy import TextClause

metadata = MetaData()

MUTABLE_COLUMNS: dict[str, tuple[str, ...]] = {
    "tasks": (
        "state",
        "attempt",
        "run_id",
        "lease_token",
        "lease_expires_at",
        "worker",
        "due_at",
        "changes",
        "ended_at",
    ),
    "job_schedules": ("definition_hash", "next_at", "last_at", "applied"),
    "trigger_cursors": ("position",),
    "service_token_secrets": ("ends_at", "last_used_at"),
    "stream_reports": ("state", "reported_at", "process", "progress", "error"),
    "outbox": ("batch",),
    "relay_cursors": ("batch",),
    "dataset_search": (
        "dataset_name",
        "layer",
        "domain",
        "owner",
        "active",
        "description",
        "tags",
        "columns",
        "name_words",
        "words",
        "filters",
    ),
    "request_keys": ("status", "answer", "content_type"),
    "metadata_records": ("is_newest",),
    "record_positions": ("position",),
}
"""Mutable columns by table. Every other table is append-only, every other column immutable."""

QUEUES = ("outbox", "request_keys", "metadata_records")
"""Tables whose rows are deleted: once delivered, or once expired."""


# Column types with the same meaning on SQLite and PostgreSQL.

Id = String(64)
Name = String(300)
Hash = String(80)
Word = String(40)
Long = Text


class UtcTime(TypeDecorator[datetime]):
    """A UTC timestamp with microseconds; stored as sortable text on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(27))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time needs a zone")
        return format_instant(value) if dialect.name == "sqlite" else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        return None if value is None else value.astimezone(UTC)


# Indexes over some rows.

_CONDITION = "condition"


def partial_index(
    name: str, *columns: str | TextClause, where: TextClause, unique: bool = False
) -> Index:
    """An index over the rows that meet the condition. The option of a dialect loads that dialect,
    so it is set when the index is created, for the database at hand."""
    return Index(name, *columns, unique=unique, info={_CONDITION: where})


@compiles(CreateIndex)
def _with_condition(element: CreateIndex, compiler: Any, **options: Any) -> Any:
    index = element.element
    if _CONDITION in index.info:
        index.dialect_kwargs[f"{compiler.dialect.name}_where"] = index.info[_CONDITION]
    return compiler.visit_create_index(element, **options)
