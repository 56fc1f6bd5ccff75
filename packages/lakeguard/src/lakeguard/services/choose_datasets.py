"""Select the datasets to run, and order rebuilds downstream."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeguard.dispatch.schedule import above, without_cycles
from lakeguard.registry.validation.rule_references import referred_to
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import BuiltByProgram, NothingSelected, NotRegistered
from lakeguard_sdk.model.definitions import DatasetDefinition, FromFrame, Pending
from lakeguard_sdk.model.run import RunResult, Window
from lakeguard_sdk.scheduling.invalidations import Standing

BY_PROGRAM = "built by a program: tx.publish"
INACTIVE = "inactive"
PENDING = "pending: it has no build"
_SELECTED_BY = ("tag", "domain")


@dataclass(frozen=True)
class Chosen:
    """The datasets to run with their parents, and why others are skipped."""

    parents: dict[DatasetName, tuple[DatasetName, ...]]
    left_out: dict[DatasetName, str]
    after: dict[DatasetName, tuple[DatasetName, ...]] = field(default_factory=dict)
    """Datasets that rules of another refer to, and that therefore run first."""


def choose_all(datasets: Iterable[DatasetDefinition]) -> Chosen:
    """All datasets that a run can build."""
    return _chosen(datasets, named=frozenset())


def choose_named(
    names: Sequence[DatasetName], datasets: Iterable[DatasetDefinition], *, with_parents: bool
) -> Chosen:
    """The named datasets, active or not, optionally with their ancestors; ``BuiltByProgram`` if a
    run cannot build a named one."""
    known = {dataset.dataset: dataset for dataset in datasets}
    for name in names:
        if isinstance(known[name].build, FromFrame):
            raise BuiltByProgram(dataset=name)
    wanted = set(names)
    if with_parents:
        graph = {name: dataset.parents for name, dataset in known.items()}
        wanted |= {parent for name in names for parent in above(name, graph)} & set(known)
    return _chosen((known[name] for name in sorted(wanted)), named=frozenset(names))


def choose_selected(
    selectors: Sequence[str],
    datasets: Iterable[DatasetDefinition],
    *,
    with_parents: bool = False,
    only: Collection[DatasetName] | None = None,
) -> Chosen:
    """The datasets that any selector selects; of those, with ``only``, the ones in it.

    A selector is a dataset, ``tag:NAME`` (of a column) or ``domain:NAME``. A leading ``+`` adds its
    ancestors, a trailing ``+`` its descendants. Inactive datasets run only if named.
    """
    known = {dataset.dataset: dataset for dataset in datasets}
    named = [DatasetName(text) for text in selectors if _kind_of(text) is None and "+" not in text]
    for name in named:
        if name not in known:
            raise NotRegistered(dataset=name, hint=did_you_mean(name, known))
    choose_named(named, known.values(), with_parents=False)
    parents = {name: dataset.parents for name, dataset in known.items()}
    wanted = set[DatasetName]().union(*(_selected(text, known, parents) for text in selectors))
    if with_parents:
        wanted |= {parent for name in wanted for parent in above(name, parents)} & set(known)
    if only is not None:
        wanted = wanted & set(only) if selectors else set(only) & set(known)
    return _chosen((known[name] for name in sorted(wanted)), named=frozenset(named))


def _selected(
    text: str,
    known: Mapping[DatasetName, DatasetDefinition],
    parents: Mapping[DatasetName, tuple[DatasetName, ...]],
) -> set[DatasetName]:
    core = text.removeprefix("+").removesuffix("+")
    found = _matching(core, known)
    if not found:
        raise NothingSelected(selector=text, hint=_near(core, known))
    chosen = set(found)
    if text.startswith("+"):
        chosen |= {name for each in found for name in above(each, parents)} & set(known)
    if text.endswith("+"):
        chosen |= {name for name in known if above(name, parents) & found}
    return chosen


def _matching(core: str, known: Mapping[DatasetName, DatasetDefinition]) -> set[DatasetName]:
    match _kind_of(core):
        case "tag":
            tag = core.partition(":")[2]
            return {
                name
                for name, dataset in known.items()
                if any(tag in column.tags for column in dataset.columns)
            }
        case "domain":
            domain = core.partition(":")[2]
            return {name for name, dataset in known.items() if dataset.domain == domain}
        case _:
            return {DatasetName(core)} & set(known)


def _kind_of(text: str) -> str | None:
    kind = text.removeprefix("+").partition(":")[0]
    return kind if ":" in text and kind in _SELECTED_BY else None


def _near(core: str, known: Mapping[DatasetName, DatasetDefinition]) -> str:
    kind, value = _kind_of(core), core.partition(":")[2]
    if kind == "tag":
        tags = {tag for each in known.values() for column in each.columns for tag in column.tags}
        return did_you_mean(value, sorted(tags))
    if kind == "domain":
        return did_you_mean(value, sorted({each.domain for each in known.values()}))
    return did_you_mean(core, sorted(known))


def _chosen(datasets: Iterable[DatasetDefinition], named: frozenset[DatasetName]) -> Chosen:
    chosen, wanted = Chosen({}, {}), dict[DatasetName, set[DatasetName]]()
    for dataset in datasets:
        if isinstance(dataset.build, FromFrame):
            chosen.left_out[dataset.dataset] = BY_PROGRAM
        elif isinstance(dataset.build, Pending) and dataset.dataset not in named:
            chosen.left_out[dataset.dataset] = PENDING
        elif dataset.refusal and dataset.dataset not in named:
            chosen.left_out[dataset.dataset] = INACTIVE
        else:
            chosen.parents[dataset.dataset] = dataset.parents
            wanted[dataset.dataset] = referred_to(dataset)
    return replace(chosen, after=without_cycles(chosen.parents, wanted))


# Rebuild of the dependents of a backfilled dataset.

Run = Callable[[DatasetName, Window | None], RunResult]
Ran = tuple[RunResult, Window | None]
"""Result of a run, and its window; None for a full run."""


def run_downstream(client: Client, name: DatasetName, run: Run) -> list[Ran]:
    """Rebuilds every dependent that is behind an invalidation of ``name``, parents first.

    A dependent that does not succeed stays behind, and so do its descendants.
    """
    ran: list[Ran] = []
    tried: set[tuple[str, DatasetName]] = set()
    while ready := sorted(_ready(client, name, tried)):
        _, invalidation_id, dataset = ready[0]
        tried.add((invalidation_id, dataset))
        window = _window(client, invalidation_id, dataset)
        ran.append((run(dataset, window), window))
    client.operations.reconcile()
    return ran


def _ready(
    client: Client, name: DatasetName, tried: set[tuple[str, DatasetName]]
) -> Iterator[tuple[int, str, DatasetName]]:
    """Ready dependents with their position in topological order."""
    for row in client.reader.invalidations(name):
        followers = row.followers if row.dataset == name else ()
        for place, item in enumerate(followers):
            key = (row.invalidation_id, item.dataset)
            if item.standing is Standing.READY and item.dataset != name and key not in tried:
                yield place, *key


def _window(client: Client, invalidation_id: str, dataset: DatasetName) -> Window | None:
    followers = client.reader.invalidation(invalidation_id).followers
    return next(item.window for item in followers if item.dataset == dataset)
