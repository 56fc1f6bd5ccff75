"""What the registry holds now, as one value: all that planning needs to know of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from lakeguard_sdk.canonical import unordered_hash
from lakeguard_sdk.definition import DatasetDefinition, PolicyDefinition, SourceDefinition
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.words import Layer

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


class RegisteredPolicy(Noun):
    revision: int
    definition: PolicyDefinition


class RegistryState(Noun):
    """Every current definition of one organisation."""

    sources: tuple[RegisteredSource, ...] = ()
    datasets: tuple[RegisteredDataset, ...] = ()
    policies: tuple[RegisteredPolicy, ...] = ()

    @cached_property
    def head(self) -> str:
        hashes = [source.definition_hash for source in self.sources]
        hashes += [dataset.definition_hash for dataset in self.datasets]
        hashes += [policy.definition.content_hash() for policy in self.policies]
        return registry_head(hashes)

    @cached_property
    def dataset_by_name(self) -> dict[DatasetName, RegisteredDataset]:
        return {item.definition.dataset: item for item in self.datasets}

    @cached_property
    def source_by_name(self) -> dict[str, RegisteredSource]:
        return {item.definition.source: item for item in self.sources}

    @cached_property
    def policy_by_name(self) -> dict[str, RegisteredPolicy]:
        return {item.definition.policy: item for item in self.policies}


def registry_head(hashes: Iterable[str]) -> str:
    """One name for all that is registered: equal content, equal head, in whatever order."""
    collected = list(hashes)
    return unordered_hash(collected) if collected else EMPTY_HEAD
