"""What a run had to say beside its verdict: how it changed the table, and its own notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import columns, number, plural
from lakeguard_sdk.evidence import Changes
from lakeguard_sdk.reading import RunFacts

_LONGEST = 160


def facts_rows(facts: RunFacts | None) -> list[tuple[str, str]]:
    """What the load did, and how many lines were kept aside; nothing where nothing is known."""
    if facts is None:
        return []
    rows = [("changes", changes_text(facts.changes))] if facts.changes else []
    if facts.rejected:
        rows.append(("kept aside", plural(facts.rejected, "malformed line")))
    if facts.set_aside:
        rows.append(("set aside", plural(facts.set_aside, "row") + " that rules kept out"))
    return rows


def changes_text(changes: Changes) -> str:
    """``120 inserted, 3 updated``; only what there is any of."""
    counts = [(name, getattr(changes, name)) for name in type(changes).model_fields]
    told = [f"{number(count)} {name}" for name, count in counts if count]
    return ", ".join(told) or "none"


def notes_lines(notes: Mapping[str, Any]) -> list[str]:
    """A line for each note, in the order of their names."""
    return columns([(inert(name), inert(_text(notes[name]))) for name in sorted(notes)])


def _text(value: Any) -> str:
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}…"
