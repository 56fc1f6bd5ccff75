"""Describes a plan for people, from the same steps that apply executes."""

from __future__ import annotations

from collections.abc import Sized

from lakeguard.registry.kinds import name_of
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    DatasetDefinition,
    Definition,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.model.plan import (
    Change,
    Plan,
    Register,
    Revise,
)


class PlanLine(FrozenModel):
    """``+ dataset bronze.orders  9 columns, 6 rules``, with ``changes`` indented below."""

    sign: str
    kind: str
    name: str
    summary: str
    changes: tuple[Change, ...] = ()


def describe(plan: Plan) -> list[PlanLine]:
    """One line per step, in the order of apply."""
    return [describe_step(step) for step in plan.steps]


def describe_step(step: Register | Revise) -> PlanLine:
    definition = step.definition
    kind, name = definition.kind, name_of(definition)
    match step:
        case Register():
            return PlanLine(sign="+", kind=kind, name=name, summary=_summary(definition))
        case Revise(changes=changes):
            summary = _count(changes, "change")
            return PlanLine(sign="~", kind=kind, name=name, summary=summary, changes=changes)


def _summary(definition: Definition) -> str:
    """Summary of a new definition."""
    match definition:
        case SourceDefinition(format=form, path=path, url=url):
            return f"{form}, {path or url}"
        case TargetDefinition(format=form, location=location, zone=zone, sources=sources):
            return f"{form}, {location}, zone {zone}, {_count(sources, 'source')}"
        case DatasetDefinition(columns=columns, rules=rules):
            return f"{_count(columns, 'column')}, {_count(rules, 'rule')}"
        case PolicyDefinition(type=kind, expression=text):
            return f"{kind} on {_scope(definition)}: {text}, {definition.enforcement}"
        case JobDefinition(type=kind, dataset=dataset):
            return f"{kind} of {dataset}" if dataset else kind
        case ProfileDefinition():
            return _allowed(definition)
        case CatalogueRule(expression=text, severity=severity):
            return f"{text}, {severity}"


def _scope(policy: PolicyDefinition) -> str:
    """``gold``, ``gold, domain aviation``, ``everything``."""
    parts = [policy.applies_to_layer.value] if policy.applies_to_layer else []
    parts += [f"domain {policy.applies_to_domain}"] if policy.applies_to_domain else []
    parts += [f"tag {policy.applies_to_tag}"] if policy.applies_to_tag else []
    return ", ".join(parts) or "everything"


def _allowed(profile: ProfileDefinition) -> str:
    flags = (
        (profile.auto_add_columns, "new columns"),
        (profile.allow_column_drop, "missing columns"),
        (profile.allow_type_widen, "wider types"),
        (profile.allow_type_narrow, "narrower types"),
        (profile.allow_nullable_change, "changed nullability"),
    )
    allowed = ", ".join(word for allowed, word in flags if allowed) or "no difference"
    return allowed + (f", {_count(profile.reactions, 'reaction')}" if profile.reactions else "")


def _count(items: Sized, word: str) -> str:
    return f"{len(items)} {word}{'' if len(items) == 1 else 's'}"
