"""What the registry holds now: names and hashes at once, definitions when they are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

from lakeguard.registry.kinds import Key, hash_of, key_of
from lakeguard_sdk.core.canonical_json import unordered_hash
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.model.definitions import DatasetDefinition, Definition, SourceDefinition

EMPTY_HEAD = "empty"


class RegisteredDataset(Noun):
    """The latest revision of a dataset. ``location`` was fixed when it was registered."""

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


class RegisteredSource(Noun):
    source_id: str
    revision: int
    definition_hash: str
    definition: SourceDefinition


class Entry(NamedTuple):
    """The latest revision of one thing, without its definition."""

    kind: str
    name: str
    key: str
    """What the registry calls it, whatever its name is."""
    revision: int
    definition_hash: str


class Opened(NamedTuple):
    """An entry's definition; ``location`` is that of a dataset's table, else empty."""

    definition: Definition
    location: str = ""


class Library(Protocol):
    """What can be asked of the registry beyond names and hashes."""

    def open(self, entries: Collection[Entry]) -> Mapping[Key, Opened]: ...

    def former_names(self) -> Mapping[str, str]:
        """Names that datasets once had and have no more, each with the dataset's key."""
        ...

    def locations(self) -> Mapping[str, str]:
        """Every place of a table, with the name of its dataset."""
        ...

    def naming(self, text: str) -> Collection[Key]:
        """Datasets and jobs whose definitions hold this text as a value, and maybe others."""
        ...

    def referring(self, dataset: str) -> Collection[Key]:
        """Datasets whose rules refer to this one, and maybe others."""
        ...

    def external_ids(self, kind: str) -> Mapping[str, str]:
        """The ids under which other systems know things of a kind, each with its name."""
        ...


class RegistryState:
    """Every current definition of one organisation."""

    def __init__(self, entries: Iterable[Entry] = (), library: Library | None = None) -> None:
        self.entries: dict[Key, Entry] = {(entry.kind, entry.name): entry for entry in entries}
        self.library: Library = library or Shelf({})
        self._opened: dict[Key, Opened] = {}

    @classmethod
    def of(cls, held: Mapping[Entry, Opened]) -> RegistryState:
        """A registry in memory."""
        return cls(held, Shelf({(entry.kind, entry.name): item for entry, item in held.items()}))

    def find(self, kind: str, name: str) -> Entry | None:
        return self.entries.get((kind, name))

    def superseded(self, dataset: DatasetDefinition) -> Entry | None:
        """What the definition takes the place of: under its name, else under that which it had."""
        found = self.find("dataset", dataset.dataset)
        if found is None and dataset.renamed_from is not None:
            return self.find("dataset", dataset.renamed_from)
        return found

    def names(self, kind: str) -> set[str]:
        return {name for found, name in self.entries if found == kind}

    def open_all(self, entries: Iterable[Entry]) -> dict[Key, Opened]:
        """The definitions of entries, each read once."""
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


class Shelf:
    """A library of definitions that are all at hand; nothing was ever called otherwise."""

    def __init__(self, held: Mapping[Key, Opened]) -> None:
        self._held = held

    def open(self, entries: Collection[Entry]) -> Mapping[Key, Opened]:
        return {(entry.kind, entry.name): self._held[entry.kind, entry.name] for entry in entries}

    def former_names(self) -> Mapping[str, str]:
        return {}

    def locations(self) -> Mapping[str, str]:
        return {item.location: name for (_, name), item in self._held.items() if item.location}

    def naming(self, text: str) -> Collection[Key]:
        return [key for key, item in self._held.items() if f'"{text}"' in item.definition.to_json()]

    def referring(self, dataset: str) -> Collection[Key]:
        said = reference_text(dataset)
        return [key for key, item in self._held.items() if said in item.definition.to_json()]

    def external_ids(self, kind: str) -> Mapping[str, str]:
        named = {
            getattr(item.definition, "external_id", ""): name
            for (found, name), item in self._held.items()
            if found == kind
        }
        return {external: name for external, name in named.items() if external}


def reference_text(dataset: str) -> str:
    """How the rules of a definition begin to speak of a dataset."""
    return f"-> {dataset}"


def entry_of(definition: Definition, key: str, revision: int) -> Entry:
    """A definition as it would be registered."""
    return Entry(*key_of(definition), key, revision, hash_of(definition))


def registry_head(hashes: Iterable[str]) -> str:
    """One name for all that is registered: equal content, equal head, in whatever order."""
    collected = list(hashes)
    return unordered_hash(collected) if collected else EMPTY_HEAD
