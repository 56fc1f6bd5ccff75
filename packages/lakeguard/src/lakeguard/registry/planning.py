"""From definitions and the registry as it is to the steps that make them agree."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.changes import dataset_changes, policy_changes, source_changes
from lakeguard.registry.checking import check_definitions
from lakeguard.registry.current import RegistryState
from lakeguard.registry.graph import parents_first
from lakeguard_sdk.definition import (
    DatasetDefinition,
    Definitions,
    PolicyDefinition,
    SourceDefinition,
    definition_hash,
)
from lakeguard_sdk.planning import (
    Plan,
    RegisterDataset,
    RegisterPolicy,
    RegisterSource,
    ReviseDataset,
    RevisePolicy,
    ReviseSource,
    Step,
)


def make_plan(definitions: Definitions, current: RegistryState) -> Plan:
    """The steps, sources first, then datasets with parents before children, then policies.

    The same input gives the same plan, in whatever order it came. What is registered and not
    among the definitions is left as it is. InvalidDefinitions if anything does not hold, the
    registry included.
    """
    steps = (
        *_source_steps(definitions, current),
        *_dataset_steps(definitions, current),
        *_policy_steps(definitions, current),
    )
    check_definitions(definitions, current, revised=frozenset(_datasets_in(steps)))
    return Plan(registry_head=current.head, steps=steps)


def definitions_of(plan: Plan) -> Definitions:
    """What the steps of a plan would register."""
    found = [step.definition for step in plan.steps]
    return Definitions(
        sources=tuple(item for item in found if isinstance(item, SourceDefinition)),
        datasets=tuple(item for item in found if isinstance(item, DatasetDefinition)),
        policies=tuple(item for item in found if isinstance(item, PolicyDefinition)),
    )


def _datasets_in(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, RegisterDataset | ReviseDataset):
            yield step.definition.dataset


def _source_steps(definitions: Definitions, current: RegistryState) -> Iterator[Step]:
    for source in sorted(definitions.sources, key=lambda item: item.source):
        known = current.source_by_name.get(source.source)
        if known is None:
            yield RegisterSource(definition=source)
        elif known.definition_hash != source.content_hash():
            yield ReviseSource(
                source_id=known.source_id,
                revision=known.revision,
                definition=source,
                changes=source_changes(known.definition, source),
            )


def _dataset_steps(definitions: Definitions, current: RegistryState) -> Iterator[Step]:
    by_name = {dataset.dataset: dataset for dataset in definitions.datasets}
    for name in parents_first({name: item.parents for name, item in by_name.items()}):
        dataset, known = by_name[name], current.dataset_by_name.get(name)
        if known is None:
            yield RegisterDataset(definition=dataset)
        elif known.definition_hash != definition_hash(dataset):
            yield ReviseDataset(
                dataset_id=known.dataset_id,
                revision=known.revision,
                definition=dataset,
                changes=dataset_changes(known.definition, dataset),
            )


def _policy_steps(definitions: Definitions, current: RegistryState) -> Iterator[Step]:
    for policy in sorted(definitions.policies, key=lambda item: item.policy):
        known = current.policy_by_name.get(policy.policy)
        if known is None:
            yield RegisterPolicy(definition=policy)
        elif known.definition != policy:
            yield RevisePolicy(
                revision=known.revision,
                definition=policy,
                changes=policy_changes(known.definition, policy),
            )
