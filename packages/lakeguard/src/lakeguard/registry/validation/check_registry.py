"""Definitions against the registry: what must hold before anything is planned.

Definitions may come from a folder that was read a moment ago or from a stranger's hand; they
are held to the same invariants here, and nothing that a loader checked is taken on trust.
What is registered already, word for word, is not looked at again: what it names cannot go.
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
from lakeguard.registry.merged_registry import Whole
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.text.characters import look_alike, look_alike_names
from lakeguard.registry.text.definition_positions import by_file, file_of
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.validation.invariants import cycle_errors
from lakeguard.registry.validation.kind_invariants import definition_errors, rule_errors
from lakeguard.registry.validation.nested_columns import nested_in_target_errors
from lakeguard.registry.validation.references import (
    dependent_errors,
    reader_errors,
    reference_errors,
)
from lakeguard.registry.validation.rule_references import referring_errors, rule_reference_errors
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import (
    BadRename,
    DefinitionError,
    DuplicateDefinition,
    LayerChanged,
    LookAlike,
    NestedTable,
    SecondJob,
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

# Names of datasets over time: one keeps its id through a rename, and no name has two owners.


class Renames:
    """The history of names that a change is held against."""

    def __init__(self, whole: Whole) -> None:
        self.whole = whole
        self.current = whole.current

    @cached_property
    def _former(self) -> dict[str, str]:
        """Names that are no more, with the name that their dataset has now."""
        names = {
            entry.key: entry.name for entry in self.current.entries.values()
            if entry.kind == "dataset"
        }  # fmt: skip
        return {old: names[key] for old, key in self.current.library.former_names().items()}

    @cached_property
    def _looked_at(self) -> set[Key]:
        """What changed is held to what it names by itself."""
        return {key_of(item) for item in self.whole.changed}

    def errors(self, dataset: DatasetDefinition) -> Iterator[DefinitionError]:
        """What is wrong with the name that a changed dataset has, or says that it had."""
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
            problem = f"{name} was the name of what is {owner} now; a name never has two owners"
            yield self._bad(dataset, problem, "dataset")

    def _refused_claim(
        self, dataset: DatasetDefinition, before: DatasetName
    ) -> Iterator[DefinitionError]:
        if before == dataset.dataset:
            yield self._bad(dataset, "it has this name already")
        elif before in self._former or self.current.find("dataset", before):
            owner = self._former.get(before, before)
            yield self._bad(dataset, f"{before} is another dataset's name ({owner})")
        else:
            yield self._unknown(dataset, before)

    def _rename_errors(
        self, dataset: DatasetDefinition, before: DatasetName
    ) -> Iterator[DefinitionError]:
        if self.current.find("dataset", before) is None:
            if before in self._former:
                yield self._bad(dataset, f"{before} is {self._former[before]} now")
            else:
                yield self._unknown(dataset, before)
            return
        if before.layer is not dataset.dataset.layer:
            place = by_file(dataset, ())
            yield LayerChanged(place, name=before, layer=before.layer, at=["renamed_from"])
        if self.whole.renamed.get(before) != dataset.dataset:
            problem = f"{before} becomes {self.whole.renamed.get(before)} already"
            yield self._bad(dataset, problem)
        old = self.whole.defined.get(("dataset", before))
        if isinstance(old, DatasetDefinition):
            problem = f"{before} becomes {dataset.dataset}; remove this file"
            yield self._bad(old, problem, "dataset")
        yield from self._left_behind(before, dataset.dataset)

    def _left_behind(self, before: DatasetName, now: DatasetName) -> Iterator[DefinitionError]:
        """What is registered, is not changed as well, and still names the old one."""
        for key in self.current.library.naming(before):
            if key in self._looked_at:
                continue
            item = self.current.definition(*key)
            hint = f"; it becomes {now}: revise this one too"
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
    yield from _look_alike_errors(whole)
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


# Names that a person takes for each other: of two, the second is refused.


def _look_alike_errors(whole: Whole) -> Iterator[DefinitionError]:
    """Among what is new, and between it and what is registered; kind by kind."""
    new = [item for item in whole.changed if key_of(item) not in whole.current.entries]
    kinds = {item.kind for item in new}
    seen: dict[tuple[str, int, str], str] = {}
    for kind, name in whole.current.entries:
        if kind in kinds and not (kind == "dataset" and name in whole.renamed):
            seen.update({(kind, *form): name for form in enumerate(look_alike_names(name))})
    for item in sorted(new, key=name_of):
        name = name_of(item)
        forms = [(item.kind, *form) for form in enumerate(look_alike_names(name))]
        twins = {seen.setdefault(form, name) for form in forms} - {name}
        if twins:
            place, twin = by_file(item, ()), min(twins)
            yield LookAlike(place, kind=item.kind, name=name, twin=twin, at=[item.kind])
    yield from _external_ids(whole)


def _external_ids(whole: Whole) -> Iterator[DefinitionError]:
    """Another system's id means one thing of a kind."""
    claims = [item for item in whole.changed if _claimed(item, whole)]
    for kind in sorted({item.kind for item in claims}):
        owners = {
            look_alike(external): name
            for external, name in whole.current.library.external_ids(kind).items()
            if (kind, name) not in whole.defined and name not in whole.renamed
        }
        yield from _doubly_claimed(_of_kind(whole.defined.values(), kind), claims, owners)


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
            said = f"{item.kind} with external_id"
            yield LookAlike(place, kind=said, name=external, twin=owner, at=["external_id"])


def _of_kind(definitions: Iterable[Definition], kind: str) -> list[Definition]:
    return [item for item in definitions if item.kind == kind]


def _claimed(item: Definition, whole: Whole) -> bool:
    """Whether the definition says an external id that its registered form did not."""
    external: str = getattr(item, "external_id", "")
    if not external:
        return False
    before = whole.current.definition(*key_of(item))
    return getattr(before, "external_id", "") != external
