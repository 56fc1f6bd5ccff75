"""Definitions against the registry: what must hold before anything is planned.

Definitions may come from a folder that was read a moment ago or from a stranger's hand; they
are held to the same invariants here, and nothing that a loader checked is taken on trust.
What is registered already, word for word, is not looked at again: what it names cannot go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from lakeguard.registry.current import RegistryState
from lakeguard.registry.findings import Findings
from lakeguard.registry.graph import Parents
from lakeguard.registry.invariants import cycle_errors
from lakeguard.registry.job_invariants import after_errors
from lakeguard.registry.kind_invariants import definition_errors, rule_errors
from lakeguard.registry.kinds import every, key_of
from lakeguard.registry.locating import by_file, file_of
from lakeguard.registry.look_alikes import look_alike_errors
from lakeguard.registry.nested_columns import nested_in_target_errors
from lakeguard.registry.references import dependent_errors, reader_errors, reference_errors
from lakeguard.registry.renames import Renames
from lakeguard.registry.rule_references import referring_errors, rule_reference_errors
from lakeguard.registry.table_places import (
    lake_problem,
    location_problem,
    nested_places,
    outside_problem,
    root_of,
    table_place,
)
from lakeguard.registry.whole import Whole
from lakeguard_sdk.definition import (
    DatasetDefinition,
    Definition,
    Definitions,
    JobDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.errors import (
    DefinitionError,
    DuplicateDefinition,
    LayerChanged,
    NestedTable,
    SecondJob,
    WrongValue,
)
from lakeguard_sdk.names import DatasetName


def check_definitions(
    definitions: Definitions,
    current: RegistryState,
    changed: Collection[Definition],
    lake: str | None = None,
) -> None:
    """InvalidDefinitions with every mistake; those not ``changed`` equal what is registered.

    Where places lie to each other is only fully known with the ``lake`` that they lie in.
    """
    findings, whole = Findings(), Whole(definitions, current, changed)
    for error in _all_errors(definitions, whole, None if lake is None else root_of(lake)):
        findings.add(error)
    findings.raise_if_any()


def _all_errors(
    definitions: Definitions, whole: Whole, root: str | None
) -> Iterator[DefinitionError]:
    yield from _duplicates(definitions)
    renames = Renames(whole)
    for item in whole.changed:
        yield from definition_errors(item, by_file)
        yield from reference_errors(item, whole)
        if isinstance(item, DatasetDefinition):
            yield from rule_errors(item, by_file, whole.superseded(item))
            yield from rule_reference_errors(item, whole)
            yield from referring_errors(item, whole)
            yield from _layer_errors(item, whole)
            yield from renames.errors(item)
            yield from _own_place_errors(item, whole, root)
        elif isinstance(item, TargetDefinition):
            yield from dependent_errors(item, whole)
            yield from nested_in_target_errors(item, whole)
            yield from _location_errors(item, root)
        elif isinstance(item, SourceDefinition):
            yield from reader_errors(item, whole)
    yield from look_alike_errors(whole)
    yield from _place_errors(whole, root)
    yield from _job_errors(whole)
    yield from _job_cycle_errors(whole)
    yield from _cycle_errors(whole)


def _duplicates(definitions: Definitions) -> Iterator[DefinitionError]:
    counted = Counter(map(key_of, every(definitions)))
    for twin in every(definitions) if len(counted) < counted.total() else ():
        if counted[key_of(twin)] > 1:
            file = file_of(twin)
            yield DuplicateDefinition(by_file(twin, ()), name=file, first=file)


def _layer_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    known = whole.current.definition("dataset", dataset.dataset)
    if isinstance(known, DatasetDefinition) and known.dataset.layer is not dataset.dataset.layer:
        place, layer = by_file(dataset, ()), known.dataset.layer
        yield LayerChanged(place, name=dataset.dataset, layer=layer, at=["dataset"])


def _location_errors(target: TargetDefinition, root: str | None) -> Iterator[DefinitionError]:
    problem = None if root is None else lake_problem(target.location, root)
    if problem and location_problem(target.location) is None:
        place = by_file(target, ("location",))
        yield WrongValue(place, key="location", problem=problem, hint="", at=["location"])


def _own_place_errors(
    dataset: DatasetDefinition, whole: Whole, root: str | None
) -> Iterator[DefinitionError]:
    """A table stays where it was registered, and its own place is not in the lake."""
    known = whole.current.definition("dataset", dataset.renamed_from or dataset.dataset)
    known = known or whole.current.definition("dataset", dataset.dataset)
    problem = None if root is None else outside_problem(dataset.location, root)
    if isinstance(known, DatasetDefinition) and known.location != dataset.location:
        was = known.location or "its place in the lake"
        problem = f"a table stays where it was registered, which is {was}"
    if problem is not None:
        place = by_file(dataset, ("location",))
        yield WrongValue(place, key="location", problem=problem, hint="", at=["location"])


def _place_errors(whole: Whole, root: str | None) -> Iterator[DefinitionError]:
    """Tables that would lie inside each other; only new ones get a place."""
    new: dict[DatasetName, DatasetDefinition] = {
        item.dataset: item
        for item in whole.changed
        if isinstance(item, DatasetDefinition)
        and whole.current.find("dataset", item.dataset) is None
        and item.renamed_from is None
    }
    if not new:
        return
    places: dict[str, str] = {}
    for item in new.values():
        target = item.target and whole.definition("target", item.target)
        place = table_place(item, target if isinstance(target, TargetDefinition) else None)
        if place in places:
            yield NestedTable(
                by_file(item, ()),
                name=item.dataset,
                location=place,
                other=places[place],
                at=["location"],
            )
            continue
        places[place] = item.dataset
    held = whole.current.library.locations()
    for place, name in nested_places(places, held, root):
        item = new[DatasetName(places[place])]
        yield NestedTable(
            by_file(item, ()), name=item.dataset, location=place, other=name, at=["target"]
        )


def _job_errors(whole: Whole) -> Iterator[DefinitionError]:
    """At most one job builds a dataset."""
    mine = {item.job for item in whole.changed if isinstance(item, JobDefinition) and item.dataset}
    if not mine:
        return
    every_job = [*whole.defined.values(), *_held_jobs(whole)]
    jobs = [item for item in every_job if isinstance(item, JobDefinition) and item.dataset]
    first: dict[str, str] = {}
    for job in sorted(jobs, key=lambda job: (job.job in mine, job.job)):
        owner = first.setdefault(str(job.dataset), job.job)
        if owner != job.job:
            yield SecondJob(
                by_file(job, ()), job=job.job, dataset=job.dataset, first=owner, at=["dataset"]
            )


def _job_cycle_errors(whole: Whole) -> Iterator[DefinitionError]:
    """Only a job that follows another can close a cycle."""
    changed = {item.job: item for item in whole.changed if isinstance(item, JobDefinition)}
    if not any("after" in job.config for job in changed.values()):
        return
    known = [*whole.defined.values(), *_held_jobs(whole)]
    others = {item.job: item for item in known if isinstance(item, JobDefinition)}
    yield from after_errors(changed, others)


def _held_jobs(whole: Whole) -> list[Definition]:
    """Jobs that are registered and not defined here."""
    held = whole.current.open_all(
        entry
        for key, entry in whole.current.entries.items()
        if entry.kind == "job" and key not in whole.defined
    )
    return [item.definition for item in held.values()]


def _cycle_errors(whole: Whole) -> Iterator[DefinitionError]:
    """Each new cycle goes through something that changed: only what lies above it is read."""
    changed = {item.dataset: item for item in whole.changed if isinstance(item, DatasetDefinition)}
    yield from cycle_errors(changed, _above(changed, whole))


def _above(changed: dict[DatasetName, DatasetDefinition], whole: Whole) -> Parents:
    found: dict[DatasetName, tuple[DatasetName, ...]] = {}
    waiting = {parent for item in changed.values() for parent in item.parents} - set(changed)
    while waiting:
        whole.open_datasets(waiting)
        for name in waiting:
            item = whole.definition("dataset", name) if whole.has("dataset", name) else None
            found[name] = item.parents if isinstance(item, DatasetDefinition) else ()
        above = {parent for name in waiting for parent in found[name]}
        waiting = above - set(found) - set(changed)
    return found
