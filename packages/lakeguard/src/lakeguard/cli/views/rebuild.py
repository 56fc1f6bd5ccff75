"""A run that was built again, as people read it: the same rows, or which are not."""

from __future__ import annotations

import re

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import GAP, Tone, indented, plural, strong, toned
from lakeguard_sdk.rebuild import Rebuilt
from lakeguard_sdk.run import PythonBuild, RunPlan, SqlBuild

_CHANCE = re.compile(
    r"\b(current_timestamp|current_date|localtimestamp)\b"
    r"|\b(now|curdate|unix_timestamp|rand|random|randn|uuid|shuffle|monotonically_increasing_id"
    r"|first|last|any_value|collect_list|row_number)\s*\(",
    re.IGNORECASE,
)
"""What gives another answer another time, or in another order of rows."""


def rebuild_lines(found: Rebuilt, plan: RunPlan) -> list[str]:
    version = "" if found.version is None else f"@v{found.version}"
    name = f"{strong(inert(found.run_id))}{GAP}{found.dataset}{version}"
    if found.same:
        mark = toned("✓ SAME ROWS", Tone.GOOD)
        return [f"{mark}  {name}{GAP}{plural(found.rows, 'row')}"]
    lines = [f"{toned('✗ DIFFERS', Tone.BAD)}  {name}"]
    said = [f"{plural(found.rows, 'row')} then, {found.rows_now:,} now"]
    if found.missing or found.extra:
        said.append(
            f"{plural(found.missing, 'row')} of then are not there now, {found.extra:,} are new"
        )
    if found.columns:
        said.append(f"columns that differ: {', '.join(map(inert, found.columns))}")
    said += map(inert, found.schema_changes)
    if found.removed_otherwise:
        said.append("it would replace other files of its base")
    said.append(_why(plan))
    return [*lines, *indented(said), f"Next: lakeguard why {inert(found.run_id)}"]


def _why(plan: RunPlan) -> str:
    """What is known to make rows differ: the clock and chance are not recorded."""
    build = plan.build
    if isinstance(build, PythonBuild):
        return "its build is Python: one that uses the clock, chance or the network differs"
    text = f"{build.text if isinstance(build, SqlBuild) else ''} {plan.transform}"
    used = sorted({(bare or called).lower() for bare, called in _CHANCE.findall(text)})
    if used:
        return f"its SQL uses {', '.join(used)}: the clock, chance and order are not recorded"
    return "its build uses no clock and no chance that is known of"
