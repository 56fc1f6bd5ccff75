"""Names of datasets over time: one keeps its id through a rename, and no name has two owners."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from lakeguard.registry.kinds import Key, key_of
from lakeguard.registry.locating import by_file
from lakeguard.registry.whole import Whole
from lakeguard_sdk.definition import DatasetDefinition, JobDefinition
from lakeguard_sdk.errors import (
    BadRename,
    DefinitionError,
    LayerChanged,
    UnknownReference,
)
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.spelling import did_you_mean


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
