"""Checks definitions against the registry before planning.

Definitions may come from a parsed folder or from an API caller; both are checked completely.
Definitions equal to the registered ones are skipped: what they reference cannot be removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from lakeguard.registry.files.job_settings import after_errors
from lakeguard.registry.files.table_locations import (
    lake_problem,
    location_problem,
    nested_places,
    outside_problem,
    root_of,
    table_place,
)
from lakeguard.registry.graph import Parents
from lakeguard.registry.kinds import Key, every, key_of, name_of
from lakeguard.registry.merged_registry import MergedRegistry
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.text.characters import look_alike, look_alike_names
from lakeguard.registry.text.definition_positions import by_file, file_of
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.validation.invariants import cycle_errors
from lakeguard.registry.validation.kind_invariants import definition_errors, rule_errors
from lakeguard.registry.validation.nested_columns import nested_in_target_errors
from lakeguard.registry.validation.references import (
    dependent_errors,
    id_errors,
    lost_column_errors,
    reader_errors,
    reference_errors,
    reserved_errors,
)
from lakeguard.registry.validation.rule_references import referring_errors, rule_reference_errors
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import (
    BadRename,
    ConfusableName,
    DefinitionError,
    DuplicateDefinition,
    DuplicateJob,
    LayerChanged,
    NestedTable,
    UnknownReference,
    WrongValue,
)
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    Definition,
    Definitions,
    JobDefinition,
    SourceDefinition,
    TargetDefinition,
)

# Renames: a dataset keeps its id, and a name is never reused by another dataset.


class Renames:
    """Checks renames against the history of names."""

    def __init__(self, merged: MergedRegistry) -> None:
        self.merged = merged
        self.current = merged.current

    @cached_property
    def _former(self) -> dict[str, str]:
        """Former names, with the current name of their dataset."""
        names = {
            entry.key: entry.name for entry in self.current.entries.values()
            if entry.kind == "dataset"
        }  # fmt: skip
        return {old: names[key] for old, key in self.current.library.former_names().items()}

    @cached_property
    def _changed_keys(self) -> set[Key]:
        """Changed definitions are checked on their own."""
        return {key_of(item) for item in self.merged.changed}

    def errors(self, dataset: DatasetDefinition) -> Iterator[DefinitionError]:
        """Errors of a changed dataset's name or ``renamed_from``."""
        name, before = dataset.dataset, dataset.renamed_from
        registered = self.current.find("dataset", name) is not None
        if registered:
            if before is not None and self._former.get(before) != name:
                yield from self._refused_claim(dataset, before)
            return
        if before is not None:
            yield from self._rename_errors(dataset, before)
        owner = self._former.get(name)
        if owner is not None and owner != before:
            problem = f"{name} is a former name of {owner} and cannot be reused"
            yield self._bad(dataset, problem, "dataset")

    def _refused_claim(
        self, dataset: DatasetDefinition, before: DatasetName
    ) -> Iterator[DefinitionError]:
        if before == dataset.dataset:
            yield self._bad(dataset, "it already has this name")
        elif before in self._former or self.current.find("dataset", before):
            owner = self._former.get(before, before)
            yield self._bad(dataset, f"{before} belongs to another dataset ({owner})")
        else:
            yield self._unknown(dataset, before)

    def _rename_errors(
        self, dataset: DatasetDefinition, before: DatasetName
    ) -> Iterator[DefinitionError]:
        if self.current.find("dataset", before) is None:
            if before in self._former:
                yield self._bad(dataset, f"{before} is now {self._former[before]}")
            else:
                yield self._unknown(dataset, before)
            return
        if before.layer is not dataset.dataset.layer:
            place = by_file(dataset, ())
            yield LayerChanged(place, name=before, layer=before.layer, at=["renamed_from"])
        if self.merged.renamed.get(before) != dataset.dataset:
            problem = f"{before} is already renamed to {self.merged.renamed.get(before)}"
            yield self._bad(dataset, problem)
        old = self.merged.defined.get(("dataset", before))
        if isinstance(old, DatasetDefinition):
            problem = f"{before} is renamed to {dataset.dataset}; remove this file"
            yield self._bad(old, problem, "dataset")
        yield from self._stale_references(before, dataset.dataset)

    def _stale_references(self, before: DatasetName, now: DatasetName) -> Iterator[DefinitionError]:
        """Unchanged registered definitions that still use the old name."""
        for key in self.current.library.naming(before):
            if key in self._changed_keys:
                continue
            item = self.current.definition(*key)
            hint = f"; it is renamed to {now}, update this definition too"
            match item:
                case DatasetDefinition(parents=parents) if before in parents:
                    at: list[str | int] = ["parents", parents.index(before)]
                case JobDefinition(dataset=dataset) if dataset == before:
                    at = ["dataset"]
                case _:
                    continue
            place = by_file(item, ())
            yield UnknownReference(place, kind="dataset", name=before, hint=hint, at=at)

    def _unknown(self, dataset: DatasetDefinition, before: DatasetName) -> DefinitionError:
        hint = did_you_mean(before, self.current.names("dataset"))
        place = by_file(dataset, ())
        at = ["renamed_from"]
        return UnknownReference(place, kind="dataset", name=before, hint=hint, at=at)

    def _bad(
        self, dataset: DatasetDefinition, problem: str, key: str = "renamed_from"
    ) -> DefinitionError:
        place = by_file(dataset, ())
        return BadRename(place, name=dataset.dataset, problem=problem, at=[key])


def check_definitions(
    definitions: Definitions,
    current: RegistryState,
    changed: Collection[Definition],
    lake: str | None = None,
) -> None:
    """InvalidDefinitions with every error; definitions not ``changed`` equal the registered ones.

    Without ``lake``, overlaps of absolute and relative locations are not detected.
    """
    findings, merged = Findings(), MergedRegistry(definitions, current, changed)
    for error in _all_errors(definitions, merged, None if lake is None else root_of(lake)):
        findings.add(error)
    findings.raise_if_any()


def _all_errors(
    definitions: Definitions, merged: MergedRegistry, root: str | None
) -> Iterator[DefinitionError]:
    yield from _duplicates(definitions)
    renames = Renames(merged)
    for item in merged.changed:
        yield from definition_errors(item, by_file)
        yield from reference_errors(item, merged)
        if isinstance(item, DatasetDefinition):
            yield from rule_errors(item, by_file, merged.superseded(item))
            yield from rule_reference_errors(item, merged)
            yield from referring_errors(item, merged)
            yield from lost_column_errors(item, merged)
            yield from _layer_errors(item, merged)
            yield from id_errors(item, merged)
            yield from renames.errors(item)
            yield from _own_place_errors(item, merged, root)
        elif isinstance(item, TargetDefinition):
            yield from dependent_errors(item, merged)
            yield from nested_in_target_errors(item, merged)
            yield from _location_errors(item, root)
        elif isinstance(item, SourceDefinition):
            yield from reader_errors(item, merged)
        if root is not None and isinstance(item, DatasetDefinition | SourceDefinition):
            yield from reserved_errors(item, merged, root)
    yield from _look_alike_errors(merged)
    yield from _place_errors(merged, root)
    yield from _job_errors(merged)
    yield from _job_cycle_errors(merged)
    yield from _cycle_errors(merged)


def _duplicates(definitions: Definitions) -> Iterator[DefinitionError]:
    counted = Counter(map(key_of, every(definitions)))
    for twin in every(definitions) if len(counted) < counted.total() else ():
        if counted[key_of(twin)] > 1:
            file = file_of(twin)
            yield DuplicateDefinition(by_file(twin, ()), name=file, first=file)


def _layer_errors(dataset: DatasetDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    known = merged.current.definition("dataset", dataset.dataset)
    if isinstance(known, DatasetDefinition) and known.dataset.layer is not dataset.dataset.layer:
        place, layer = by_file(dataset, ()), known.dataset.layer
        yield LayerChanged(place, name=dataset.dataset, layer=layer, at=["dataset"])


def _location_errors(target: TargetDefinition, root: str | None) -> Iterator[DefinitionError]:
    problem = None if root is None else lake_problem(target.location, root)
    if problem and location_problem(target.location) is None:
        place = by_file(target, ("location",))
        yield WrongValue(place, key="location", problem=problem, hint="", at=["location"])


def _own_place_errors(
    dataset: DatasetDefinition, merged: MergedRegistry, root: str | None
) -> Iterator[DefinitionError]:
    """A table cannot move, and an explicit location must be outside the lake."""
    known = merged.current.definition("dataset", dataset.renamed_from or dataset.dataset)
    known = known or merged.current.definition("dataset", dataset.dataset)
    problem = None if root is None else outside_problem(dataset.location, root)
    if isinstance(known, DatasetDefinition) and known.location != dataset.location:
        was = known.location or "its default location"
        problem = f"a table cannot be moved; its location is {was}"
    if problem is not None:
        place = by_file(dataset, ("location",))
        yield WrongValue(place, key="location", problem=problem, hint="", at=["location"])


def _place_errors(merged: MergedRegistry, root: str | None) -> Iterator[DefinitionError]:
    """New tables whose location equals or nests with another."""
    new: dict[DatasetName, DatasetDefinition] = {
        item.dataset: item
        for item in merged.changed
        if isinstance(item, DatasetDefinition)
        and merged.current.find("dataset", item.dataset) is None
        and item.renamed_from is None
    }
    if not new:
        return
    places: dict[str, str] = {}
    for item in new.values():
        target = item.target and merged.definition("target", item.target)
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
    registered = merged.current.library.locations()
    for place, name in nested_places(places, registered, root):
        item = new[DatasetName(places[place])]
        yield NestedTable(
            by_file(item, ()), name=item.dataset, location=place, other=name, at=["target"]
        )


def _job_errors(merged: MergedRegistry) -> Iterator[DefinitionError]:
    """At most one job builds a dataset."""
    mine = {item.job for item in merged.changed if isinstance(item, JobDefinition) and item.dataset}
    if not mine:
        return
    every_job = [*merged.defined.values(), *_registered_jobs(merged)]
    jobs = [item for item in every_job if isinstance(item, JobDefinition) and item.dataset]
    first: dict[str, str] = {}
    for job in sorted(jobs, key=lambda job: (job.job in mine, job.job)):
        owner = first.setdefault(str(job.dataset), job.job)
        if owner != job.job:
            yield DuplicateJob(
                by_file(job, ()), job=job.job, dataset=job.dataset, first=owner, at=["dataset"]
            )


def _job_cycle_errors(merged: MergedRegistry) -> Iterator[DefinitionError]:
    """Only a changed job with ``after`` can close a cycle."""
    changed = {item.job: item for item in merged.changed if isinstance(item, JobDefinition)}
    if not any("after" in job.config for job in changed.values()):
        return
    known = [*merged.defined.values(), *_registered_jobs(merged)]
    others = {item.job: item for item in known if isinstance(item, JobDefinition)}
    yield from after_errors(changed, others)


def _registered_jobs(merged: MergedRegistry) -> list[Definition]:
    """Registered jobs that are not redefined."""
    registered = merged.current.open_all(
        entry
        for key, entry in merged.current.entries.items()
        if entry.kind == "job" and key not in merged.defined
    )
    return [item.definition for item in registered.values()]


def _cycle_errors(merged: MergedRegistry) -> Iterator[DefinitionError]:
    """A new cycle includes a changed dataset, so only its ancestors are read."""
    changed = {item.dataset: item for item in merged.changed if isinstance(item, DatasetDefinition)}
    yield from cycle_errors(changed, _ancestors(changed, merged))


def _ancestors(changed: dict[DatasetName, DatasetDefinition], merged: MergedRegistry) -> Parents:
    found: dict[DatasetName, tuple[DatasetName, ...]] = {}
    waiting = {parent for item in changed.values() for parent in item.parents} - set(changed)
    while waiting:
        merged.open_datasets(waiting)
        for name in waiting:
            item = merged.definition("dataset", name) if merged.has("dataset", name) else None
            found[name] = item.parents if isinstance(item, DatasetDefinition) else ()
        above = {parent for name in waiting for parent in found[name]}
        waiting = above - set(found) - set(changed)
    return found


# Easily confused names: the second one is refused.


def _look_alike_errors(merged: MergedRegistry) -> Iterator[DefinitionError]:
    """New names that look like another new or registered name of the same kind."""
    new = [item for item in merged.changed if key_of(item) not in merged.current.entries]
    kinds = {item.kind for item in new}
    seen: dict[tuple[str, int, str], str] = {}
    for kind, name in merged.current.entries:
        if kind in kinds and not (kind == "dataset" and name in merged.renamed):
            seen.update({(kind, *form): name for form in enumerate(look_alike_names(name))})
    for item in sorted(new, key=name_of):
        name = name_of(item)
        forms = [(item.kind, *form) for form in enumerate(look_alike_names(name))]
        twins = {seen.setdefault(form, name) for form in forms} - {name}
        if twins:
            place, twin = by_file(item, ()), min(twins)
            yield ConfusableName(place, kind=item.kind, name=name, twin=twin, at=[item.kind])
    yield from _external_ids(merged)


def _external_ids(merged: MergedRegistry) -> Iterator[DefinitionError]:
    """An external id is unique within a kind."""
    claims = [item for item in merged.changed if _claimed(item, merged)]
    for kind in sorted({item.kind for item in claims}):
        owners = {
            look_alike(external): name
            for external, name in merged.current.library.external_ids(kind).items()
            if (kind, name) not in merged.defined and name not in merged.renamed
        }
        yield from _doubly_claimed(_of_kind(merged.defined.values(), kind), claims, owners)


def _doubly_claimed(
    defined: Iterable[Definition], claims: list[Definition], owners: dict[str, str]
) -> Iterator[DefinitionError]:
    claiming = {key_of(item) for item in claims}
    for item in sorted(defined, key=lambda each: (key_of(each) in claiming, name_of(each))):
        external: str = getattr(item, "external_id", "")
        if not external:
            continue
        owner = owners.setdefault(look_alike(external), name_of(item))
        if owner != name_of(item):
            place = by_file(item, ())
            kind = f"{item.kind} with external_id"
            yield ConfusableName(place, kind=kind, name=external, twin=owner, at=["external_id"])


def _of_kind(definitions: Iterable[Definition], kind: str) -> list[Definition]:
    return [item for item in definitions if item.kind == kind]


def _claimed(item: Definition, merged: MergedRegistry) -> bool:
    """Whether the definition sets a new external id."""
    external: str = getattr(item, "external_id", "")
    if not external:
        return False
    before = merged.current.definition(*key_of(item))
    return getattr(before, "external_id", "") != external
