"""A plan in words: the same steps that apply walks, as lines for people."""

from __future__ import annotations

from functools import singledispatch

from lakeguard_sdk.noun import Noun
from lakeguard_sdk.planning import (
    Change,
    Plan,
    RegisterDataset,
    RegisterPolicy,
    RegisterSource,
    ReviseDataset,
    RevisePolicy,
    ReviseSource,
)


class PlanLine(Noun):
    """``+ dataset bronze.orders  9 columns, 6 rules``; ``changes`` are indented below it."""

    sign: str
    kind: str
    name: str
    summary: str
    changes: tuple[Change, ...] = ()


def describe(plan: Plan) -> list[PlanLine]:
    """One line per step, in the order in which apply takes them."""
    return [describe_step(step) for step in plan.steps]


@singledispatch
def describe_step(step: object) -> PlanLine:
    raise TypeError(f"{type(step).__name__} is not a step of a plan")


@describe_step.register
def _(step: RegisterSource) -> PlanLine:
    source = step.definition
    summary = f"{source.format}, {source.path}"
    return PlanLine(sign="+", kind="source", name=source.source, summary=summary)


@describe_step.register
def _(step: RegisterDataset) -> PlanLine:
    dataset = step.definition
    columns, rules = _count(dataset.columns, "column"), _count(dataset.rules, "rule")
    return PlanLine(sign="+", kind="dataset", name=dataset.dataset, summary=f"{columns}, {rules}")


@describe_step.register
def _(step: RegisterPolicy) -> PlanLine:
    policy = step.definition
    summary = f"{policy.type} on {policy.applies_to_layer}: {policy.expression}"
    return PlanLine(
        sign="+", kind="policy", name=policy.policy, summary=f"{summary}, {policy.enforcement}"
    )


@describe_step.register
def _(step: ReviseSource) -> PlanLine:
    return _revised("source", step.definition.source, step.changes)


@describe_step.register
def _(step: ReviseDataset) -> PlanLine:
    return _revised("dataset", step.definition.dataset, step.changes)


@describe_step.register
def _(step: RevisePolicy) -> PlanLine:
    return _revised("policy", step.definition.policy, step.changes)


def _revised(kind: str, name: str, changes: tuple[Change, ...]) -> PlanLine:
    return PlanLine(
        sign="~", kind=kind, name=name, summary=_count(changes, "change"), changes=changes
    )


def _count(items: tuple[object, ...], word: str) -> str:
    return f"{len(items)} {word}{'' if len(items) == 1 else 's'}"
