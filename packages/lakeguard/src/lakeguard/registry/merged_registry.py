"""The registry merged with new definitions."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from lakeguard.registry.kinds import Key, every, key_of
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.model.definitions import DatasetDefinition, Definition, Definitions


class MergedRegistry:
    """New definitions, and registered ones that they do not replace."""

    def __init__(
        self, definitions: Definitions, current: RegistryState, changed: Collection[Definition]
    ) -> None:
        self.current = current
        self.changed = changed
        self.defined: dict[Key, Definition] = {key_of(item): item for item in every(definitions)}

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Old to new names of the datasets renamed by this change."""
        return {
            item.renamed_from: item.dataset
            for item in self.changed
            if isinstance(item, DatasetDefinition)
            and item.renamed_from is not None
            and ("dataset", item.dataset) not in self.current.entries
            and ("dataset", item.renamed_from) in self.current.entries
        }

    def has(self, kind: str, name: str) -> bool:
        if kind == "dataset" and name in self.renamed:
            return False
        return (kind, name) in self.defined or (kind, name) in self.current.entries

    def names(self, kind: str) -> set[str]:
        found = self.current.names(kind) | {name for word, name in self.defined if word == kind}
        return found - set(self.renamed) if kind == "dataset" else found

    def definition(self, kind: str, name: str) -> Definition | None:
        return self.defined.get((kind, name)) or self.current.definition(kind, name)

    def superseded(self, dataset: DatasetDefinition) -> DatasetDefinition | None:
        """The registered revision of a dataset, under its old or new name."""
        entry = self.current.superseded(dataset)
        found = None if entry is None else self.current.open(entry).definition
        return found if isinstance(found, DatasetDefinition) else None

    def open_datasets(self, names: Collection[str]) -> None:
        """Load these registered datasets in one query."""
        keys = [("dataset", name) for name in names if ("dataset", name) not in self.defined]
        self.current.open_all(
            self.current.entries[key] for key in keys if key in self.current.entries
        )
