"""Who has caught up with an invalidation: thought only, over facts that somebody else read.

A version is sound where it was made after the invalidation, of sound versions of everything that
the invalidation reaches, and over all that is invalid; or where it stands on a sound version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lakeguard.ledger.invalidations import Progress
from lakeguard_sdk.invalidation import Standing
from lakeguard_sdk.reach import Reach, carried_over, lies_within
from lakeguard_sdk.run import Window
from lakeguard_sdk.schema import TableSchema


@dataclass(frozen=True)
class Look:
    """A run that ended well: what it stood on, what it read, and what it made of it."""

    run_id: str
    opened_at: datetime
    base: int | None
    version: int | None
    """None where there was nothing to do: its base is what it would have made."""
    inputs: Mapping[str, int] = field(default_factory=dict)
    window: Window | None = None
    builds: bool = True
    """False where it only took rows in that had waited."""
    partitions: frozenset[str] = frozenset()
    """Those that it brought or replaced as a whole; none of a load that only adds to them."""


@dataclass(frozen=True)
class Node:
    """A dataset as its definition stands, and what became of it since."""

    dataset_id: str
    parents: tuple[str, ...]
    published: int | None
    schema: TableSchema
    partition_by: tuple[str, ...] = ()
    watermark: str = ""
    reads_all: bool = True
    """Whether a run without a window builds every row again."""
    active: bool = True
    building: bool = False
    """Whether a run of it is open, which may have pinned what was wrong."""
    looks: tuple[Look, ...] = ()

    @property
    def affected(self) -> bool:
        return self.active and (self.published is not None or self.building)


@dataclass(frozen=True)
class Stale:
    """What is invalid since when; ``repaired`` is the version that put its own dataset right."""

    dataset_id: str
    reach: Reach
    since: datetime
    repaired: int | None = None


@dataclass(frozen=True)
class Followed:
    """How far a dataset is, and what of it is invalid."""

    made: Progress
    reach: Reach
    waits_for: tuple[str, ...] = ()


def follow(stale: Stale, nodes: Mapping[str, Node]) -> dict[str, Followed]:
    """Everybody whom it reaches, parents before children, the dataset itself first."""
    order = _reached(stale, nodes)
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
            for parent in _affected_parents(stale, node, nodes, order)
            if nodes[parent].published not in sound.get(parent, ())
        )
        made = _progress(node, sound[dataset_id], bool(waits) or node.published is None)
        found[dataset_id] = Followed(made, reaches[dataset_id], waits)
    return found


def _progress(node: Node, sound: frozenset[int], waits: bool) -> Progress:
    if not sound:
        return Progress(node.dataset_id, Standing.WAITING if waits else Standing.READY)
    first = min(sound)
    made = (look.run_id for look in node.looks if look.version == first)
    found = (look.run_id for look in node.looks if look.version is None and look.base == first)
    run_id = next(made, None) or next(found, None)
    return Progress(node.dataset_id, Standing.CAUGHT_UP, run_id, first)


def _is_affected(stale: Stale, node: Node) -> bool:
    return node.affected or (node.dataset_id == stale.dataset_id and stale.repaired is not None)


def _reached(stale: Stale, nodes: Mapping[str, Node]) -> list[str]:
    """The dataset and all that is built from it; what is not affected passes nothing on."""
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
    """A circle that definitions may have had for a while is walked once."""
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


def _affected_parents(
    stale: Stale, node: Node, nodes: Mapping[str, Node], order: Sequence[str]
) -> list[str]:
    """Of what it is built from, that which the invalidation reaches; of its own dataset none."""
    if node.dataset_id == stale.dataset_id:
        return []
    return [
        parent for parent in node.parents if parent in order and _is_affected(stale, nodes[parent])
    ]


def _reaches(stale: Stale, nodes: Mapping[str, Node], order: Sequence[str]) -> dict[str, Reach]:
    """What is invalid of each."""
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
        found[dataset_id] = over[0] if same else Reach()
    return found


def _sound(
    stale: Stale, nodes: Mapping[str, Node], order: Sequence[str]
) -> dict[str, frozenset[int]]:
    """The versions of each that are sound in every piece."""
    found: dict[str, frozenset[int]] = {}
    for piece in stale.reach.pieces:
        part = Stale(stale.dataset_id, piece, stale.since, stale.repaired)
        for dataset_id, versions in _sound_in_piece(part, nodes, order).items():
            found[dataset_id] = found.get(dataset_id, versions) & versions
    return found


def _sound_in_piece(
    stale: Stale, nodes: Mapping[str, Node], order: Sequence[str]
) -> dict[str, frozenset[int]]:
    reaches = _reaches(stale, nodes, order)
    sound: dict[str, frozenset[int]] = {}
    for dataset_id in order:
        node, own = nodes[dataset_id], dataset_id == stale.dataset_id
        parents = _affected_parents(stale, node, nodes, order)
        good = {stale.repaired} if own else set()
        for look in node.looks:
            late = look.opened_at > stale.since
            saw = all(look.inputs.get(name) in sound.get(name, ()) for name in parents)
            covers = (own and bool(stale.repaired)) or _covers(look, node, reaches[dataset_id], own)
            if late and saw and covers:
                good.add(look.base if look.version is None else look.version)
        sound[dataset_id] = _with_followers(good, node)
    return sound


def _with_followers(good: set[int | None], node: Node) -> frozenset[int]:
    """These versions, and those that stand on one of them."""
    found = {version for version in good if version is not None}
    made = [(look.version, look.base) for look in node.looks if look.version is not None]
    for version, base in sorted(made, key=lambda pair: pair[0]):
        if base in found:
            found.add(version)
    return frozenset(found)


def _covers(look: Look, node: Node, reach: Reach, own: bool) -> bool:
    """Whether a run built again all that is invalid.

    One without a window reads what its inputs gained, and so what was put right in them. Of the
    dataset itself nobody knows what was wrong, so that the run has to have replaced it.
    """
    if not look.builds:
        return False
    if look.window is not None:
        return lies_within(reach, Reach(window=look.window), node.schema)
    if not own:
        return True
    if look.version is None:
        return False
    brought = bool(reach.partitions) and look.partitions.issuperset(reach.partitions)
    return node.reads_all or brought
