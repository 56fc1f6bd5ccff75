"""The kinds of definitions, with their folders and order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    DatasetDefinition,
    Definition,
    Definitions,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    SourceDefinition,
    TargetDefinition,
    definition_hash,
)


class Kind(NamedTuple):
    word: str
    """The ``kind`` of a definition; also the key that holds its name."""
    noun: type[FrozenModel]
    field: str
    """Field of ``Definitions``."""
    folder: str
    """Empty for datasets, which are in the folder of their layer."""


KINDS = (
    Kind("profile", ProfileDefinition, "profiles", "profiles"),
    Kind("rule", CatalogueRule, "catalogue", "rules"),
    Kind("source", SourceDefinition, "sources", "sources"),
    Kind("target", TargetDefinition, "targets", "targets"),
    Kind("dataset", DatasetDefinition, "datasets", ""),
    Kind("policy", PolicyDefinition, "policies", "policies"),
    Kind("job", JobDefinition, "jobs", "jobs"),
)
"""In plan order: referenced kinds come first."""

LAYER_FOLDERS = tuple(layer.value for layer in Layer)
FOLDERS = (*LAYER_FOLDERS, *(kind.folder for kind in KINDS if kind.folder))

Key = tuple[str, str]
"""Kind and name, unique in a registry."""


def name_of(definition: Definition) -> str:
    name: str = getattr(definition, definition.kind)
    return name


def key_of(definition: Definition) -> Key:
    return definition.kind, name_of(definition)


def hash_of(definition: Definition) -> str:
    """Content hash, to detect changes."""
    if isinstance(definition, DatasetDefinition):
        return definition_hash(definition)
    return definition.content_hash()


def every(definitions: Definitions) -> Iterator[Definition]:
    """All definitions, ordered by kind."""
    for kind in KINDS:
        yield from getattr(definitions, kind.field)


def gathered(found: Iterable[Definition]) -> Definitions:
    """The definitions grouped by kind."""
    by_kind: dict[str, list[Definition]] = {kind.word: [] for kind in KINDS}
    for definition in found:
        by_kind[definition.kind].append(definition)
    return Definitions(**{kind.field: tuple(by_kind[kind.word]) for kind in KINDS})
