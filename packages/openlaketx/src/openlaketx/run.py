"""What a build may say about the run that it is part of: ``from openlaketx import run``.

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
    """Keep ``values`` beside the version that this run brings forth; a later value of a key wins.

    They are JSON, at most 64 KiB together and free of secrets, or none of them is kept.
    """
    held = _notes.get()
    if held is None:
        raise NotInRun()
    held.update(checked_notes({**held, **checked_notes(values)}))


@contextmanager
def noting() -> Iterator[None]:
    """Notes of one run: those made around the block, and those made in it by its thread."""
    token = _notes.set(collected_notes())
    try:
        yield
    finally:
        _notes.reset(token)


def collected_notes() -> dict[str, Any]:
    """All notes of the run so far."""
    return dict(_notes.get() or {})
