"""Plans as people read them, and what applying one did."""

from __future__ import annotations

from pathlib import Path

from lakeguard.cli.terminal.escape import inert
from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    indented,
    plural,
    strong,
    toned,
)
from lakeguard.cli.use_cases.ways_out import way_to_build
from lakeguard.registry.planning.describe import PlanLine, describe
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from lakeguard_sdk.model.plan import Applied, Change, Plan

_ALWAYS = {
    "sources": ("source", "sources"),
    "datasets": ("dataset", "datasets"),
    "rules": ("rule", "rules"),
    "policies": ("policy", "policies"),
}
_WHERE_THERE_ARE = {
    "targets": ("target", "targets"),
    "jobs": ("job", "jobs"),
    "profiles": ("schema profile", "schema profiles"),
    "catalogue": ("catalogue rule", "catalogue rules"),
}


def counts_of(definitions: Definitions) -> dict[str, int]:
    """Of each kind, and of the rules of datasets; kinds that many do without only if used."""
    rules = sum(len(dataset.rules) for dataset in definitions.datasets)
    counts = {key: len(getattr(definitions, key, ())) for key in (*_ALWAYS, *_WHERE_THERE_ARE)}
    counts["rules"] = rules
    return {key: count for key, count in counts.items() if count or key in _ALWAYS}


def counted(definitions: Definitions) -> str:
    """``5 sources · 9 datasets · 31 rules · 4 policies``."""
    words = _ALWAYS | _WHERE_THERE_ARE
    counts = counts_of(definitions)
    return " · ".join(plural(count, *words[key]) for key, count in counts.items())


def plan_lines(
    plan: Plan, kept: Path | None = None, *, follow: str = "lakeguard apply"
) -> list[str]:
    if not plan.steps:
        return ["nothing to do: the registry holds exactly these definitions"]
    follow = follow if kept is None else f"{follow} {inert(kept)}"
    return [*_steps(plan), "", f"{plural(len(plan.steps), 'step')}", f"Next: {follow}"]


def applied_lines(plan: Plan, applied: Applied) -> list[str]:
    if applied.apply_id is None:
        return ["nothing to do: the registry holds exactly these definitions"]
    done = f"{toned('✓ applied', Tone.GOOD)}  {strong(plural(applied.steps, 'step'))}"
    lines = [*_steps(plan), "", f"{done}   {applied.apply_id}"]
    defined = (step.definition for step in plan.steps)
    new = [
        found
        for found in defined
        if isinstance(found, DatasetDefinition) and found.dataset in applied.registered
    ]
    first = min(new, key=lambda found: found.dataset.layer.height, default=None)
    return [*lines, f"Next: {way_to_build(first)}"] if first else lines


def _steps(plan: Plan) -> list[str]:
    """A line per step, what changed below it; all in the order in which apply goes."""
    described = describe(plan)
    heads = columns(
        [[_sign(line), line.kind, inert(line.name), inert(line.summary)] for line in described]
    )
    lines = []
    for head, line in zip(heads, described, strict=True):
        lines += [head, *indented([_change(change) for change in line.changes], 6)]
    return indented(lines)


def _sign(line: PlanLine) -> str:
    return toned(line.sign, Tone.GOOD if line.sign == "+" else Tone.WARN)


def _change(change: Change) -> str:
    if change.before is None:
        return f"+ {inert(change.field)}: {inert(change.after)}"
    if change.after is None:
        return f"- {inert(change.field)}: {inert(change.before)}"
    return f"~ {inert(change.field)}: {inert(change.before)} → {inert(change.after)}"
