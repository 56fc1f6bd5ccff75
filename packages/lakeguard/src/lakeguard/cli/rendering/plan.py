"""Rendering of plans and of applied plans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    indented,
    strong,
    toned,
)
from lakeguard.registry.planning.describe import PlanLine, describe
from lakeguard.services.definition_warnings import DefinitionWarning
from lakeguard.services.next_commands import way_to_build
from lakeguard.services.plain_text import escaped, plural
from lakeguard.services.unfailable_rules import UnfailableRule
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.plan import Applied, Change, Plan


def plan_lines(
    plan: Plan, saved: Path | None = None, *, follow: str = "lakeguard apply"
) -> list[str]:
    if not plan.steps:
        return ["no changes: the registry is up to date"]
    follow = follow if saved is None else f"{follow} {escaped(saved)}"
    return [*_steps(plan), "", f"{plural(len(plan.steps), 'step')}", f"Next: {follow}"]


def applied_lines(plan: Plan, applied: Applied) -> list[str]:
    if applied.apply_id is None:
        return ["no changes: the registry is up to date"]
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
    """One line per step with its changes below, in the order of apply."""
    described = describe(plan)
    heads = columns(
        [[_sign(line), line.kind, escaped(line.name), escaped(line.summary)] for line in described]
    )
    lines = []
    for head, line in zip(heads, described, strict=True):
        lines += [head, *indented([_change(change) for change in line.changes], 6)]
    return indented(lines)


def _sign(line: PlanLine) -> str:
    return toned(line.sign, Tone.GOOD if line.sign == "+" else Tone.WARN)


def _change(change: Change) -> str:
    if change.before is None:
        return f"+ {escaped(change.field)}: {escaped(change.after)}"
    if change.after is None:
        return f"- {escaped(change.field)}: {escaped(change.before)}"
    return f"~ {escaped(change.field)}: {escaped(change.before)} → {escaped(change.after)}"


def warning_lines(found: Sequence[DefinitionWarning]) -> list[str]:
    """Valid definitions that will not do what they say."""
    return [
        f"{toned('! warning', Tone.WARN)}  {escaped(item.about)}: {escaped(item.why)}"
        for item in found
    ]


def unfailable_lines(found: Sequence[UnfailableRule]) -> list[str]:
    """Rules that no recorded run could have failed."""
    return [
        f"{toned('! never failed', Tone.WARN)}  {item.dataset}  {escaped(item.rule_id)}:"
        f" {item.why}  ({escaped(item.expression)})"
        for item in found
    ]
