"""From definitions and the registry as it is to the steps that make them agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lakeguard.registry.editing.drift import keeping_drift
from lakeguard.registry.graph import parents_first
from lakeguard.registry.kinds import KINDS, every, hash_of, key_of, name_of
from lakeguard.registry.planning.diff import changes_between
from lakeguard.registry.snapshot import Entry, RegistryState
from lakeguard.registry.validation.check_registry import check_definitions
from lakeguard_sdk.model.definitions import DatasetDefinition, Definition, Definitions
from lakeguard_sdk.model.plan import (
    Plan,
    Register,
    Revise,
    Step,
)


class Difference(NamedTuple):
    """A definition that is not what is registered; ``entry`` is what it would supersede."""

    definition: Definition
    entry: Entry | None


def make_plan(
    definitions: Definitions,
    current: RegistryState,
    lake: str | None = None,
    *,
    keep_drift: bool = True,
) -> Plan:
    """The steps, kind by kind: what others refer to comes first, parents before children.

    The same input gives the same plan, in whatever order it came. What is registered and not
    among the definitions is left as it is, columns included that came with the data.
    Without ``keep_drift`` those go that the definitions do not name.
    InvalidDefinitions if anything does not hold, the registry included.
    """
    if keep_drift:
        definitions = keeping_drift(definitions, current)
    differences = list(_differences(definitions, current))
    superseded = current.open_all(item.entry for item in differences if item.entry is not None)
    check_definitions(definitions, current, [item.definition for item in differences], lake)
    steps: list[Step] = []
    for definition, entry in _in_order(differences):
        if entry is None:
            steps.append(Register(definition=definition))
            continue
        before = superseded[entry.kind, entry.name].definition
        steps.append(
            Revise(
                key=entry.key,
                revision=entry.revision,
                definition=definition,
                changes=changes_between(before, definition),
            )
        )
    return Plan(registry_head=current.head, steps=tuple(steps))


def _differences(definitions: Definitions, current: RegistryState) -> Iterator[Difference]:
    for definition in every(definitions):
        entry = _superseded(definition, current)
        if entry is None or entry.definition_hash != hash_of(definition):
            yield Difference(definition, entry)


def _superseded(definition: Definition, current: RegistryState) -> Entry | None:
    if isinstance(definition, DatasetDefinition):
        return current.superseded(definition)
    return current.entries.get(key_of(definition))


def _in_order(differences: Iterable[Difference]) -> Iterator[Difference]:
    by_kind: dict[str, dict[str, Difference]] = {kind.word: {} for kind in KINDS}
    for item in differences:
        by_kind[item.definition.kind][name_of(item.definition)] = item
    for kind, found in by_kind.items():
        if kind == "dataset":
            parents = {
                item.definition.dataset: item.definition.parents
                for item in found.values()
                if isinstance(item.definition, DatasetDefinition)
            }
            yield from (found[name] for name in parents_first(parents))
        else:
            yield from (found[name] for name in sorted(found))
