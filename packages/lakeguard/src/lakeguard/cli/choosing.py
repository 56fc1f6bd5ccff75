"""Which datasets a call to run means, and which it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from lakeguard.dispatch.schedule import above, without_cycles
from lakeguard.registry.rule_references import referred_to
from lakeguard_sdk.definition import DatasetDefinition, FromFrame
from lakeguard_sdk.errors import BuiltByProgram
from lakeguard_sdk.names import DatasetName

BY_PROGRAM = "a program publishes it: tx.publish"
INACTIVE = "it is not active"


@dataclass(frozen=True)
class Chosen:
    """The datasets to run, each with its parents, and why others are not among them."""

    parents: dict[DatasetName, tuple[DatasetName, ...]]
    left_out: dict[DatasetName, str]
    after: dict[DatasetName, tuple[DatasetName, ...]] = field(default_factory=dict)
    """The chosen ones that the rules of another refer to, and that so go first."""


def choose_all(datasets: Iterable[DatasetDefinition]) -> Chosen:
    """All that a run can build."""
    return _chosen(datasets, named=frozenset())


def choose_named(
    names: Sequence[DatasetName], datasets: Iterable[DatasetDefinition], *, with_parents: bool
) -> Chosen:
    """The named ones, also where they are not active: the gate says so. With all they are built
    from, if that is wanted; ``BuiltByProgram`` where no run can build a named one."""
    known = {dataset.dataset: dataset for dataset in datasets}
    for name in names:
        if isinstance(known[name].build, FromFrame):
            raise BuiltByProgram(dataset=name)
    wanted = set(names)
    if with_parents:
        graph = {name: dataset.parents for name, dataset in known.items()}
        wanted |= {parent for name in names for parent in above(name, graph)} & set(known)
    return _chosen((known[name] for name in sorted(wanted)), named=frozenset(names))


def _chosen(datasets: Iterable[DatasetDefinition], named: frozenset[DatasetName]) -> Chosen:
    chosen, wanted = Chosen({}, {}), dict[DatasetName, set[DatasetName]]()
    for dataset in datasets:
        if isinstance(dataset.build, FromFrame):
            chosen.left_out[dataset.dataset] = BY_PROGRAM
        elif not dataset.active and dataset.dataset not in named:
            chosen.left_out[dataset.dataset] = INACTIVE
        else:
            chosen.parents[dataset.dataset] = dataset.parents
            wanted[dataset.dataset] = referred_to(dataset)
    return replace(chosen, after=without_cycles(chosen.parents, wanted))
