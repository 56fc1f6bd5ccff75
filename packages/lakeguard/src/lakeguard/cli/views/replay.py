"""A replay as people read it: the same, or where it differs."""

from __future__ import annotations

import difflib
import json

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import GAP, Tone, indented, strong, toned
from lakeguard_sdk.canonical import hash_bytes
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
