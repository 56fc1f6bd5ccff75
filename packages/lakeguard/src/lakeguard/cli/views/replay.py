"""A replay as people read it: the same, or where it differs."""

from __future__ import annotations

import difflib
import json

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import GAP, Tone, indented, moment, plural, strong, table, toned
from lakeguard_sdk.canonical import hash_bytes
from lakeguard_sdk.memory import Replays
from lakeguard_sdk.reading import ReplayResult


def replay_lines(result: ReplayResult) -> list[str]:
    digest = hash_bytes(result.recorded.encode())
    if result.identical:
        head = f"{toned('✓ IDENTICAL', Tone.GOOD)}  {strong(inert(result.run_id))}"
        return [f"{head}{GAP}{len(result.recorded.encode()):,} bytes{GAP}{digest}"]
    head = f"{toned('✗ DIFFERS', Tone.BAD)}  {strong(inert(result.run_id))}"
    return [head, *indented(_difference(result)), f"Next: lakeguard why {inert(result.run_id)}"]


def _difference(result: ReplayResult) -> list[str]:
    changes = difflib.unified_diff(
        _spread(result.recorded), _spread(result.replayed), "recorded", "replayed", "", "", 1, ""
    )
    return [inert(line) for line in changes]


def _spread(text: str) -> list[str]:
    """Canonical JSON over lines; text that is not JSON stays one line."""
    try:
        return json.dumps(json.loads(text), indent=1, sort_keys=True).splitlines()
    except ValueError:
        return [text]


def replays_lines(found: Replays) -> list[str]:
    """How many, and every one that differs."""
    count = plural(found.decisions, "decision")
    if found.identical:
        return [f"{toned('✓ IDENTICAL', Tone.GOOD)}  {count} made again, each the same"]
    head = f"{toned('✗ DIFFERS', Tone.BAD)}  {len(found.differences):,} of {count} made again"
    rows = [
        [inert(item.run_id), item.dataset, moment(item.decided_at), inert(item.message)]
        for item in found.differences
    ]
    lines = indented(table(("RUN", "DATASET", "DECIDED", "DIFFERENCE"), rows))
    return [head, *lines, f"Next: lakeguard replay {inert(found.differences[0].run_id)}"]
