"""Plans the steps that bring the registry in line with the definitions."""

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
    """A new or changed definition; ``entry`` is the registered one it supersedes."""

    definition: Definition
    entry: Entry | None


def make_plan(
    definitions: Definitions,
    current: RegistryState,
    lake: str | None = None,
    *,
    keep_drift: bool = True,
) -> Plan:
    """The steps in dependency order: referenced kinds first, parents before children.

    The plan does not depend on the order of the input. Registered definitions that are not in
    the input stay, and so do drifted columns, unless ``keep_drift`` is False.
    InvalidDefinitions if any check fails, including checks against the registry.
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
