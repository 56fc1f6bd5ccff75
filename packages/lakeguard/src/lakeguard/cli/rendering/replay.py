"""Rendering of replays and rebuilds."""

from __future__ import annotations

import difflib
import json
import re

from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    indented,
    moment,
    strong,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.model.history import Rebuilt, Replays
from lakeguard_sdk.model.read_models import ReplayResult
from lakeguard_sdk.model.run import PythonBuild, RunPlan, SqlBuild


def replay_lines(result: ReplayResult) -> list[str]:
    digest = hash_bytes(result.recorded.encode())
    if result.identical:
        head = f"{toned('✓ IDENTICAL', Tone.GOOD)}  {strong(escaped(result.run_id))}"
        return [f"{head}{GAP}{len(result.recorded.encode()):,} bytes{GAP}{digest}"]
    head = f"{toned('✗ DIFFERS', Tone.BAD)}  {strong(escaped(result.run_id))}"
    return [head, *indented(_difference(result)), f"Next: lakeguard why {escaped(result.run_id)}"]


def _difference(result: ReplayResult) -> list[str]:
    changes = difflib.unified_diff(
        _spread(result.recorded), _spread(result.replayed), "recorded", "replayed", "", "", 1, ""
    )
    return [escaped(line) for line in changes]


def _spread(text: str) -> list[str]:
    """JSON pretty-printed; other text as one line."""
    try:
        return json.dumps(json.loads(text), indent=1, sort_keys=True).splitlines()
    except ValueError:
        return [text]


def replays_lines(found: Replays) -> list[str]:
    """The count, and every decision that differs."""
    count = plural(found.decisions, "decision")
    if found.identical:
        return [f"{toned('✓ IDENTICAL', Tone.GOOD)}  {count} repeated, all identical"]
    head = f"{toned('✗ DIFFERS', Tone.BAD)}  {len(found.differences):,} of {count}"
    rows = [
        [escaped(item.run_id), item.dataset, moment(item.decided_at), escaped(item.message)]
        for item in found.differences
    ]
    lines = indented(table(("RUN", "DATASET", "DECIDED", "DIFFERENCE"), rows))
    return [head, *lines, f"Next: lakeguard replay {escaped(found.differences[0].run_id)}"]


# Rebuilt runs: the same rows, or how they differ.

_CHANCE = re.compile(
    r"\b(rand|random|randn|uuid|shuffle|monotonically_increasing_id"
    r"|first|last|any_value|collect_list|row_number)\s*\(",
    re.IGNORECASE,
)
"""Functions that depend on randomness or row order. The time of SQL is recorded."""


def rebuild_lines(found: Rebuilt, plan: RunPlan) -> list[str]:
    version = "" if found.version is None else f"@v{found.version}"
    name = f"{strong(escaped(found.run_id))}{GAP}{found.dataset}{version}"
    if found.same:
        mark = toned("✓ SAME ROWS", Tone.GOOD)
        return [f"{mark}  {name}{GAP}{plural(found.rows, 'row')}"]
    lines = [f"{toned('✗ DIFFERS', Tone.BAD)}  {name}"]
    details = [f"{plural(found.rows, 'row')} then, {found.rows_now:,} now"]
    if found.missing or found.extra:
        details.append(f"{plural(found.missing, 'row')} missing, {found.extra:,} extra")
    if found.columns:
        details.append(f"differing columns: {', '.join(map(escaped, found.columns))}")
    details += map(escaped, found.schema_changes)
    if found.removed_otherwise:
        details.append("it would replace other files of its base version")
    details.append(_why(plan))
    return [*lines, *indented(details), f"Next: lakeguard why {escaped(found.run_id)}"]


def _why(plan: RunPlan) -> str:
    """Known causes of differences: randomness and row order are not recorded."""
    build = plan.build
    if isinstance(build, PythonBuild):
        return "its build is Python, which differs if it uses the clock, randomness or the network"
    text = f"{build.text if isinstance(build, SqlBuild) else ''} {plan.transform}"
    used = sorted({called.lower() for called in _CHANCE.findall(text)})
    if used:
        return f"its SQL uses {', '.join(used)}: randomness and row order are not recorded"
    return "its build uses no known random function"
