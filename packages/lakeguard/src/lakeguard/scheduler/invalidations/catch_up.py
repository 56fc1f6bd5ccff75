"""Which datasets have caught up with an invalidation. Pure.

A version is sound if it was built after the invalidation, from sound versions of every affected
input, and covers everything invalid; or if its base is a sound version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from lakeguard.ledger.invalidations import Progress
from lakeguard_sdk.model.row_ranges import RowRange, carried_over, lies_within
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.invalidations import Standing
from lakeguard_sdk.types.schema import TableSchema


@dataclass(frozen=True)
class EndedRun:
    """A successful run: its base, inputs and output."""

    run_id: str
    opened_at: datetime
    base: int | None
    version: int | None
    """None if there was nothing to do: the base is the output."""
    inputs: Mapping[str, int] = field(default_factory=dict)
    window: Window | None = None
    builds: bool = True
    """False if it only replayed quarantined rows."""
    partitions: frozenset[str] = frozenset()
    """Partitions added or replaced as a whole; none for a load that only appends to them."""


@dataclass(frozen=True)
class Node:
    """A dataset, its definition and its runs since."""

    dataset_id: str
    parents: tuple[str, ...]
    published: int | None
    schema: TableSchema
    partition_by: tuple[str, ...] = ()
    watermark: str = ""
    reads_all: bool = True
    """Whether a run without a window rebuilds every row."""
    active: bool = True
    building: bool = False
    """Whether a run is open, which may have pinned an invalid input."""
    runs: tuple[EndedRun, ...] = ()

    @property
    def affected(self) -> bool:
        return self.active and (self.published is not None or self.building)


@dataclass(frozen=True)
class Stale:
    """What is invalid since when; ``repaired`` is the version that repaired its own dataset."""

    dataset_id: str
    reach: RowRange
    since: datetime
    repaired: int | None = None


@dataclass(frozen=True)
class Followed:
    """A dataset's progress, and its invalid range."""

    made: Progress
    reach: RowRange
    waits_for: tuple[str, ...] = ()


def follow(stale: Stale, nodes: Mapping[str, Node]) -> dict[str, Followed]:
    """All affected datasets, parents before children, the invalidated one first."""
    order = _reached(stale, nodes)
    parents = _parents(stale, nodes, order)
    reaches = _reaches(stale, nodes, order)
    sound = _sound(stale, nodes, order)
    found: dict[str, Followed] = {}
    for dataset_id in order:
        node = nodes[dataset_id]
        if not _is_affected(stale, node):
            made = Progress(dataset_id, Standing.NOT_AFFECTED)
            found[dataset_id] = Followed(made, reaches[dataset_id])
            continue
        waits = tuple(
            parent
            for parent in parents[dataset_id]
            if nodes[parent].published not in sound.get(parent, ())
        )
        made = _progress(node, sound[dataset_id], bool(waits) or node.published is None)
        over = made.standing is Standing.CAUGHT_UP
        found[dataset_id] = Followed(made, reaches[dataset_id], () if over else waits)
    return found


def undecided(stale: Stale, nodes: Mapping[str, Node], over: Collection[str]) -> set[str]:
    """Datasets whose runs determine progress: those not caught up, and all their ancestors.

    Below a dataset without a sound version nothing can be sound, so no runs are read there.
    """
    order = _reached(stale, nodes)
    parents = _parents(stale, nodes, order)
    found: set[str] = set()
    waiting = [one for one in order if one not in over and _is_affected(stale, nodes[one])]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += parents[one]
    pieces = list(_sound_by_piece(stale, nodes, order))
    return {
        one
        for one in found
        if any(all(sound[parent] for parent in parents[one]) for sound in pieces)
    }


def _progress(node: Node, sound: frozenset[int], waits: bool) -> Progress:
    if not sound:
        return Progress(node.dataset_id, Standing.WAITING if waits else Standing.READY)
    first = min(sound)
    made = (run.run_id for run in node.runs if run.version == first)
    found = (run.run_id for run in node.runs if run.version is None and run.base == first)
    run_id = next(made, None) or next(found, None)
    return Progress(node.dataset_id, Standing.CAUGHT_UP, run_id, first)


def _is_affected(stale: Stale, node: Node) -> bool:
    return node.affected or (node.dataset_id == stale.dataset_id and stale.repaired is not None)


def _reached(stale: Stale, nodes: Mapping[str, Node]) -> list[str]:
    """The dataset and its descendants; an unaffected dataset stops the walk."""
    children: dict[str, list[str]] = {}
    for node in nodes.values():
        for parent in node.parents:
            children.setdefault(parent, []).append(node.dataset_id)
    found = {stale.dataset_id}
    waiting = [stale.dataset_id]
    while waiting:
        one = waiting.pop()
        if not _is_affected(stale, nodes[one]):
            continue
        new = [child for child in children.get(one, ()) if child not in found]
        found.update(new)
        waiting += new
    return list(_parents_first(found, nodes))


def _parents_first(chosen: set[str], nodes: Mapping[str, Node]) -> Iterator[str]:
    """Temporary cycles in definitions are walked once."""
    done: set[str] = set()

    def walk(one: str) -> Iterator[str]:
        if one in done:
            return
        done.add(one)
        for parent in nodes[one].parents:
            if parent in chosen:
                yield from walk(parent)
        yield one

    for one in sorted(chosen):
        yield from walk(one)


def _parents(stale: Stale, nodes: Mapping[str, Node], order: Sequence[str]) -> dict[str, list[str]]:
    """The affected inputs of each dataset; none for the invalidated one."""
    affected = {one for one in order if _is_affected(stale, nodes[one])}
    found = {one: [name for name in nodes[one].parents if name in affected] for one in order}
    return {**found, stale.dataset_id: []}


def _reaches(stale: Stale, nodes: Mapping[str, Node], order: Sequence[str]) -> dict[str, RowRange]:
    """The invalid range of each dataset."""
    found = {stale.dataset_id: stale.reach}
    for dataset_id in order:
        if dataset_id == stale.dataset_id:
            continue
        node = nodes[dataset_id]
        over = [
            carried_over(found[parent], node.partition_by, node.watermark)
            for parent in node.parents
            if parent in found
        ]
        same = len(set(over)) == 1
        found[dataset_id] = over[0] if same else RowRange()
    return found


def _sound(
    stale: Stale, nodes: Mapping[str, Node], order: Sequence[str]
) -> dict[str, frozenset[int]]:
    """Versions of each dataset that are sound in every range."""
    found: dict[str, frozenset[int]] = {}
    for piece in _sound_by_piece(stale, nodes, order):
        for dataset_id, versions in piece.items():
            found[dataset_id] = found.get(dataset_id, versions) & versions
    return found


def _sound_by_piece(
    stale: Stale, nodes: Mapping[str, Node], order: Sequence[str]
) -> Iterator[dict[str, frozenset[int]]]:
    parents = _parents(stale, nodes, order)
    late = {one: [run for run in nodes[one].runs if run.opened_at > stale.since] for one in order}
    for piece in stale.reach.pieces:
        reaches = _reaches(replace(stale, reach=piece), nodes, order)
        sound: dict[str, frozenset[int]] = {}
        for one in order:
            own = one == stale.dataset_id
            repaired = stale.repaired if own else None
            good: set[int | None] = {repaired}
            for run in late[one]:
                saw = all(run.inputs.get(name) in sound.get(name, ()) for name in parents[one])
                if saw and (repaired or _covers(run, nodes[one], reaches[one], own)):
                    good.add(run.base if run.version is None else run.version)
            sound[one] = _with_followers(good, late[one])
        yield sound


def _with_followers(good: set[int | None], runs: Sequence[EndedRun]) -> frozenset[int]:
    """These versions and those based on them."""
    found = {version for version in good if version is not None}
    if not found:
        return frozenset()
    made = [(run.version, run.base) for run in runs if run.version is not None]
    for version, base in sorted(made, key=lambda pair: pair[0]):
        if base in found:
            found.add(version)
    return frozenset(found)


def _covers(run: EndedRun, node: Node, reach: RowRange, own: bool) -> bool:
    """Whether a run rebuilt everything invalid.

    A run without a window reads what its inputs gained, repairs included. For the invalidated
    dataset itself the cause is unknown, so the run must have replaced the range.
    """
    if not run.builds:
        return False
    if run.window is not None:
        return lies_within(reach, RowRange(window=run.window), node.schema)
    if not own:
        return True
    if run.version is None:
        return False
    brought = bool(reach.partitions) and run.partitions.issuperset(reach.partitions)
    return node.reads_all or brought
