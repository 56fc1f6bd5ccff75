"""The one catalogue of tables; which of them may change, and in which columns."""

from __future__ import annotations

from sqlalchemy import MetaData

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
    "outbox": ("batch",),
    "relay_cursors": ("batch",),
}
"""Every other table is append-only, and every other column of these is fixed at insert."""

QUEUES = ("outbox",)
"""Tables whose rows leave once they are delivered: what they told stands in other tables."""
