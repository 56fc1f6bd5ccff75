"""Dependency graph: topological order and cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import TypeVar

from lakeguard_sdk.core.dataset_name import DatasetName

Parents = Mapping[DatasetName, Collection[DatasetName]]
Name = TypeVar("Name", bound=str)


def parents_first(parents: Mapping[Name, Collection[Name]]) -> list[Name]:
    """Topological order, ties by name; datasets in or above a cycle come last."""
    ordered = _resolved(parents)
    left = sorted(set(parents) - set(ordered))
    return [*ordered, *left]


def cycles(parents: Mapping[Name, Collection[Name]]) -> Iterator[tuple[Name, ...]]:
    """Disjoint cycles, each starting and ending with its first name."""
    graph = {child: [p for p in found if p in parents] for child, found in parents.items()}
    while graph:
        for done in _resolved(graph):
            del graph[done]
        if not graph:
            return
        cycle = _walk(graph)
        yield (*cycle, cycle[0])
        for name in cycle:
            del graph[name]
        graph = {child: [p for p in found if p in graph] for child, found in graph.items()}


def _resolved(parents: Mapping[Name, Collection[Name]]) -> list[Name]:
    children: dict[Name, list[Name]] = {}
    waiting: dict[Name, int] = {}
    for child, found in parents.items():
        known = {parent for parent in found if parent in parents}
        waiting[child] = len(known)
        for parent in known:
            children.setdefault(parent, []).append(child)
    ready = [name for name, count in waiting.items() if count == 0]
    heapify(ready)
    ordered: list[Name] = []
    while ready:
        name = heappop(ready)
        ordered.append(name)
        for child in children.get(name, ()):
            waiting[child] -= 1
            if waiting[child] == 0:
                heappush(ready, child)
    return ordered


def _walk(graph: Mapping[Name, Collection[Name]]) -> list[Name]:
    """Follow parents until a name repeats."""
    path: list[Name] = []
    name = min(graph)
    while name not in path:
        path.append(name)
        name = min(parent for parent in graph[name] if parent in graph)
    cycle = path[path.index(name) :]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
