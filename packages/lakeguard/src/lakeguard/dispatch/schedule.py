"""Which builds of a graph may start now. Pure.

    chosen ──► ready ──► running ──► well
                             └─────► ill ──► its descendants are held

A failed build holds back its descendants only. Datasets that rules reference go first but hold
nothing back, however they end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lakeguard_sdk.core.dataset_name import DatasetName


@dataclass(frozen=True)
class Schedule:
    """Progress of a set of builds; immutable."""

    parents: Mapping[DatasetName, Collection[DatasetName]]
    """Parents of every chosen dataset; unchosen parents are not waited for."""
    after: Mapping[DatasetName, Collection[DatasetName]] = field(default_factory=dict)
    """Soft dependencies: datasets that go first, whatever their outcome; acyclic with parents."""
    running: frozenset[DatasetName] = frozenset()
    well: frozenset[DatasetName] = frozenset()
    ill: frozenset[DatasetName] = frozenset()

    def ready(self, jobs: int) -> tuple[DatasetName, ...]:
        """Builds that may start now, up to ``jobs`` in parallel; lower layers first."""
        free = max(0, jobs - len(self.running))
        waiting = set(self.parents) - self.running - self.well - self.ill
        able = [name for name in waiting if all(parent in self.well for parent in self._of(name))]
        if any(self.after.get(name) for name in able):
            yet = (waiting | self.running) - set(self.held())
            able = [name for name in able if yet.isdisjoint(self.after.get(name, ()))]
        return tuple(in_order(able)[:free])

    def started(self, name: DatasetName) -> Schedule:
        return replace(self, running=self.running | {name})

    def ended(self, name: DatasetName, *, well: bool) -> Schedule:
        after = replace(self, running=self.running - {name})
        if well:
            return replace(after, well=self.well | {name})
        return replace(after, ill=self.ill | {name})

    def held(self) -> dict[DatasetName, tuple[DatasetName, ...]]:
        """Builds that can no longer start, with the failed ancestors."""
        blamed = {name: self._ill_above(name) for name in set(self.parents) - self.well - self.ill}
        return {name: tuple(in_order(found)) for name, found in blamed.items() if found}

    def _ill_above(self, name: DatasetName) -> set[DatasetName]:
        return above(name, self.parents) & self.ill

    def _of(self, name: DatasetName) -> list[DatasetName]:
        return [parent for parent in self.parents[name] if parent in self.parents]


def without_cycles(
    parents: Mapping[DatasetName, Collection[DatasetName]],
    wanted: Mapping[DatasetName, Collection[DatasetName]],
) -> dict[DatasetName, tuple[DatasetName, ...]]:
    """Soft dependencies among the chosen datasets, without cycles."""
    graph: dict[DatasetName, Collection[DatasetName]] = dict(parents)
    after: dict[DatasetName, tuple[DatasetName, ...]] = {}
    for name in in_order(wanted):
        for other in in_order(wanted[name]):
            if other in parents and other != name and name not in above(other, graph):
                graph[name] = (*graph[name], other)
                after[name] = (*after.get(name, ()), other)
    return after


def in_order(names: Iterable[DatasetName]) -> list[DatasetName]:
    """Lower layers first, then by name."""
    return sorted(names, key=lambda name: (name.layer.height, name))


def above(
    name: DatasetName, parents: Mapping[DatasetName, Collection[DatasetName]]
) -> set[DatasetName]:
    """All ancestors of a dataset."""
    found: set[DatasetName] = set()
    look = list(parents.get(name, ()))
    while look:
        parent = look.pop()
        if parent not in found:
            found.add(parent)
            look += parents.get(parent, ())
    return found
