"""A snapshot of the registry: names and hashes in memory, definitions loaded on demand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

from lakeguard.registry.kinds import Key, hash_of, key_of
from lakeguard_sdk.core.canonical_json import unordered_hash
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import DatasetDefinition, Definition, SourceDefinition

EMPTY_HEAD = "empty"


class RegisteredDataset(FrozenModel):
    """The latest revision of a dataset. ``location`` is fixed at registration."""

    dataset_id: str
    revision: int
    layer: Layer
    location: str
    active: bool
    definition_hash: str
    definition: DatasetDefinition

    @property
    def name(self) -> DatasetName:
        return self.definition.dataset


class RegisteredSource(FrozenModel):
    source_id: str
    revision: int
    definition_hash: str
    definition: SourceDefinition


class Entry(NamedTuple):
    """The latest revision of one definition, without its content."""

    kind: str
    name: str
    key: str
    """The registry's id, which does not change with the name."""
    revision: int
    definition_hash: str


class Opened(NamedTuple):
    """The definition of an entry; ``location`` is set for datasets only."""

    definition: Definition
    location: str = ""


class DefinitionSource(Protocol):
    """Queries of a registry beyond names and hashes."""

    def open(self, entries: Collection[Entry]) -> Mapping[Key, Opened]: ...

    def former_names(self) -> Mapping[str, str]:
        """Former names of datasets, with the key of each."""
        ...

    def locations(self) -> Mapping[str, str]:
        """Locations of all tables, with the name of the dataset."""
        ...

    def naming(self, text: str) -> Collection[Key]:
        """Datasets and jobs whose definitions contain this value; may include false positives."""
        ...

    def referring(self, dataset: str) -> Collection[Key]:
        """Datasets whose rules refer to this one; may include false positives."""
        ...

    def external_ids(self, kind: str) -> Mapping[str, str]:
        """External ids of a kind, with the name of each."""
        ...


class RegistryState:
    """Every current definition of one organisation."""

    def __init__(
        self, entries: Iterable[Entry] = (), library: DefinitionSource | None = None
    ) -> None:
        self.entries: dict[Key, Entry] = {(entry.kind, entry.name): entry for entry in entries}
        self.library: DefinitionSource = library or InMemoryDefinitions({})
        self._opened: dict[Key, Opened] = {}

    @classmethod
    def of(cls, definitions: Mapping[Entry, Opened]) -> RegistryState:
        """A registry in memory."""
        return cls(
            definitions,
            InMemoryDefinitions(
                {(entry.kind, entry.name): item for entry, item in definitions.items()}
            ),
        )

    def find(self, kind: str, name: str) -> Entry | None:
        return self.entries.get((kind, name))

    def superseded(self, dataset: DatasetDefinition) -> Entry | None:
        """The entry that the definition replaces, by its name, else by its former name."""
        found = self.find("dataset", dataset.dataset)
        if found is None and dataset.renamed_from is not None:
            return self.find("dataset", dataset.renamed_from)
        return found

    def names(self, kind: str) -> set[str]:
        return {name for found, name in self.entries if found == kind}

    def open_all(self, entries: Iterable[Entry]) -> dict[Key, Opened]:
        """The definitions of entries; each is loaded once."""
        wanted = {(entry.kind, entry.name): entry for entry in entries}
        missing = [entry for key, entry in wanted.items() if key not in self._opened]
        if missing:
            self._opened.update(self.library.open(missing))
        return {key: self._opened[key] for key in wanted}

    def open(self, entry: Entry) -> Opened:
        return self.open_all([entry])[entry.kind, entry.name]

    def definition(self, kind: str, name: str) -> Definition | None:
        entry = self.find(kind, name)
        return None if entry is None else self.open(entry).definition

    @cached_property
    def head(self) -> str:
        return registry_head(entry.definition_hash for entry in self.entries.values())


class InMemoryDefinitions:
    """Definitions in memory, without former names."""

    def __init__(self, definitions: Mapping[Key, Opened]) -> None:
        self._definitions = definitions

    def open(self, entries: Collection[Entry]) -> Mapping[Key, Opened]:
        return {
            (entry.kind, entry.name): self._definitions[entry.kind, entry.name] for entry in entries
        }

    def former_names(self) -> Mapping[str, str]:
        return {}

    def locations(self) -> Mapping[str, str]:
        return {
            item.location: name for (_, name), item in self._definitions.items() if item.location
        }

    def naming(self, text: str) -> Collection[Key]:
        return [
            key
            for key, item in self._definitions.items()
            if f'"{text}"' in item.definition.to_json()
        ]

    def referring(self, dataset: str) -> Collection[Key]:
        text = reference_text(dataset)
        return [key for key, item in self._definitions.items() if text in item.definition.to_json()]

    def external_ids(self, kind: str) -> Mapping[str, str]:
        named = {
            getattr(item.definition, "external_id", ""): name
            for (found, name), item in self._definitions.items()
            if found == kind
        }
        return {external: name for external, name in named.items() if external}


def reference_text(dataset: str) -> str:
    """The text of a rule's reference to a dataset."""
    return f"-> {dataset}"


def entry_of(definition: Definition, key: str, revision: int) -> Entry:
    """The entry of a definition."""
    return Entry(*key_of(definition), key, revision, hash_of(definition))


def registry_head(hashes: Iterable[str]) -> str:
    """A hash of all registered definitions, independent of their order."""
    collected = list(hashes)
    return unordered_hash(collected) if collected else EMPTY_HEAD
