"""What a build may say: JSON, not too much of it, and nothing secret."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakeguard_sdk.errors import NoteRefused
from lakeguard_sdk.model.evidence import LARGEST, checked_notes

CYCLE: dict[str, Any] = {}
CYCLE["again"] = CYCLE


def test_notes_are_kept_as_they_will_be_shown() -> None:
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    kept = checked_notes({"b": (1, 2**60), "a": Decimal("1.50"), "at": moment, "n": None})
    assert kept == {
        "a": "1.50",
        "at": "2026-01-31T00:00:00.000000Z",
        "b": [1, str(2**60)],
        "n": None,
    }
    assert checked_notes(kept) == kept


def test_notes_may_be_as_large_as_is_said() -> None:
    most = "x" * (LARGEST - len('{"t":""}'))
    assert checked_notes({"t": most}) == {"t": most}
    with pytest.raises(NoteRefused, match="65,537 bytes"):
        checked_notes({"t": most + "x"})


@pytest.mark.parametrize(
    ("notes", "reason"),
    [
        (["a"], "expected a mapping, not a list"),
        ({1: "a"}, "keys are strings"),
        ({"a": {1, 2}}, "set has no canonical JSON form"),
        ({"a": float("nan")}, "no NaN"),
        ({"a": "\ud800"}, "surrogates not allowed"),
        (CYCLE, "nested too deeply"),
        ({"deep": [{"db_password": "hunter2 or so"}]}, "'db_password' looks like a secret"),
        ({"a": "postgresql://me:pw@host/db"}, "'a' looks like a secret"),
        ({"AKIAABCDEFGHIJKLMNOP": 1}, "looks like a secret"),
    ],
)
def test_what_is_not_a_note(notes: Any, reason: str) -> None:
    with pytest.raises(NoteRefused) as reported:
        checked_notes(notes)
    assert reason in str(reported.value)


def test_a_reference_to_a_secret_and_numbers_about_tokens_are_no_secrets() -> None:
    assert checked_notes({"password": "env:DB_PASSWORD", "tokens": 12})
