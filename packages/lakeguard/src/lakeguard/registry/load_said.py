"""A load as a definition says it, with what it is about: also one that could not all be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lakeguard.registry.nodes import Path
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.errors import Place
from lakeguard_sdk.load import Load
from lakeguard_sdk.schema import TableSchema

At = Callable[[Path], Place]
"""Where a part of the dataset stands."""


@dataclass(frozen=True)
class LoadSaid:
    dataset: str
    load: Load
    declared: TableSchema | None
    """None where not every column could be read."""
    has_target: bool
    unread: frozenset[str] = frozenset()
    """Fields with a mistake of their own: of what they lack nothing more is said."""

    @classmethod
    def by(cls, dataset: DatasetDefinition) -> LoadSaid:
        return cls(dataset.dataset, dataset.load, dataset.declared, dataset.target is not None)

    def says(self, field: str) -> bool:
        return field in self.unread or bool(getattr(self.load, field))

    def type_of(self, column: str) -> str | None:
        """None where it is not declared, or not known to be."""
        return self.declared.type_of(column) if self.declared is not None else None
