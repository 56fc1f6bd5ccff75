"""Definitions that are valid and will not do what they say: told when they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from lakeguard.gate.policies import parse_policy
from lakeguard.gate.policy_types.freeze import FreezeBetween
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, PolicyType
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions, PolicyDefinition
from lakeguard_sdk.model.plan import Plan


class DefinitionWarning(FrozenModel):
    """What it is about, as ``dataset silver.orders``, and what to do."""

    about: str
    why: str


def definition_warnings(
    definitions: Definitions, clock: datetime, plan: Plan | None = None
) -> Iterator[DefinitionWarning]:
    """Appends whose parent replaces its rows, and freezes that are over. With a plan, only what
    concerns definitions that it changes."""
    changed = None if plan is None else set(_changed(plan))
    yield from _append_warnings(definitions.datasets, changed)
    for policy in definitions.policies:
        if (changed is None or policy.policy in changed) and _is_over(policy, clock):
            yield DefinitionWarning(
                about=f"policy {policy.policy}",
                why=f"{policy.expression} is over and never applies again: set other days, or"
                " remove it",
            )


def _changed(plan: Plan) -> Iterator[str]:
    """Names of datasets and policies."""
    for step in plan.steps:
        match step.definition:
            case DatasetDefinition(dataset=name) | PolicyDefinition(policy=name):
                yield name


def _append_warnings(
    datasets: Iterable[DatasetDefinition], changed: Collection[str] | None
) -> Iterator[DefinitionWarning]:
    loads = {dataset.dataset: dataset.load.type for dataset in datasets}
    for dataset in datasets:
        parent = _appended_parent(dataset)
        if parent is None or loads.get(parent) is not LoadType.FULL:
            continue
        if changed is None or {dataset.dataset, parent} & set(changed):
            yield DefinitionWarning(
                about=f"dataset {dataset.dataset}",
                why=f"APPEND adds the new rows of {parent}, which replaces all its rows in every"
                f" run (load FULL), so runs after the first one fail: set load type FULL, or"
                " INCREMENTAL with keys, or a watermark",
            )


def _appended_parent(dataset: DatasetDefinition) -> DatasetName | None:
    """The parent whose new rows are appended, if there is one."""
    appends = dataset.load.type is LoadType.APPEND and not dataset.load.watermark
    return dataset.parents[0] if appends and dataset.parents else None


def _is_over(policy: PolicyDefinition, clock: datetime) -> bool:
    if policy.type is not PolicyType.CHANGE_FREEZE or not policy.active:
        return False
    freeze = parse_policy(policy.type, policy.expression)
    return isinstance(freeze, FreezeBetween) and freeze.is_over(clock)
