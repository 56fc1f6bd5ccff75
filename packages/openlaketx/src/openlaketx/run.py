"""Notes that a build attaches to its run: ``from openlaketx import run``.

def build(spark, inputs):
    orders = inputs["bronze.orders"]
    run.note({"model": "prices-2026-01", "skipped_shops": 3})
    return orders.where("amount > 0")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from lakeguard_sdk.errors import NotInRun
from lakeguard_sdk.model.evidence import checked_notes

_notes: ContextVar[dict[str, Any] | None] = ContextVar("notes", default=None)


def note(values: Mapping[str, Any]) -> None:
    """Attach ``values`` to the version that this run produces; the last value of a key wins.

    Values are JSON, at most 64 KiB in total and without secrets; otherwise none is stored.
    """
    held = _notes.get()
    if held is None:
        raise NotInRun()
    held.update(checked_notes({**held, **checked_notes(values)}))


@contextmanager
def collecting_notes() -> Iterator[None]:
    """Collect the notes of one run: those made outside the block so far, and by its thread
    inside."""
    token = _notes.set(collected_notes())
    try:
        yield
    finally:
        _notes.reset(token)


def collected_notes() -> dict[str, Any]:
    """All notes of the run so far."""
    return dict(_notes.get() or {})
