"""The ``load`` of a dataset file: how a batch is applied to the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lakeguard.registry.files.details import read_columns_named
from lakeguard.registry.text.fields import Fields
from lakeguard.registry.text.yaml_nodes import Block, Path, Scalar
from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.errors import Place
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.types.schema import TableSchema

KEYS = tuple(Load.model_fields)
ALIASES = {"HYBRID": LoadType.APPEND}


@dataclass(frozen=True)
class LoadRead:
    """The parsed load; None if its type is invalid."""

    load: Load | None
    unread: frozenset[str] = frozenset()
    """Invalid fields, which have their defaults."""

    @property
    def whole(self) -> Load | None:
        """The load if all of it is valid, else None."""
        return None if self.unread else self.load


def read_load(fields: Fields) -> LoadRead:
    """``{type: APPEND}`` or the type alone; FULL if absent."""
    node = fields.node("load")
    if node is None:
        return LoadRead(Load(type=LoadType.FULL))
    if isinstance(node, Scalar):
        short = _type(fields, "load")
        return LoadRead(None if short is None else Load(type=short))
    block = fields.block_at("load", "{type: FULL}")
    return LoadRead(None) if block is None else _spelled_out(fields, block)


def _spelled_out(fields: Fields, block: Block) -> LoadRead:
    values: dict[str, Any] = {}
    unread: set[str] = set()
    load = Fields(fields.document, block, fields.findings, KEYS)
    for key in KEYS:
        before = fields.findings.count
        value = _value(load, key)
        if fields.findings.count > before:
            unread.add(key)
        else:
            values[key] = value
    found = None if "type" in unread else Load.model_validate(values)
    return LoadRead(found, frozenset(unread))


def _value(load: Fields, key: str) -> Any:
    match key:
        case "type":
            return _type(load, key)
        case "hash":
            return load.choice(key, HashStrategy, HashStrategy.NONE)
        case "null_watermark":
            return load.choice(key, NullWatermark, NullWatermark.REFUSE)
        case "late":
            return load.choice(key, LateRows, LateRows.LOAD)
        case "deletes":
            return load.choice(key, Deletes, Deletes.HARD)
        case "inclusive" | "allow_empty" | "skip_unchanged":
            return load.flag(key, False)
        case "keys" | "order_by" | "partition_by":
            return read_columns_named(load, key)
    return load.text(key) or ""


def _type(fields: Fields, key: str) -> LoadType | None:
    node = fields.node(key)
    alias = ALIASES.get(node.value) if isinstance(node, Scalar) else None
    return alias or fields.choice(key, LoadType)


# Input of the load checks, also for a load with invalid fields.

At = Callable[[Path], Place]
"""Place of a path in the dataset file."""


@dataclass(frozen=True)
class LoadContext:
    dataset: str
    load: Load
    declared: TableSchema | None
    """None if a column is invalid."""
    has_target: bool
    unread: frozenset[str] = frozenset()
    """Invalid fields, already reported; they count as set."""

    @classmethod
    def of(cls, dataset: DatasetDefinition) -> LoadContext:
        return cls(dataset.dataset, dataset.load, dataset.declared, dataset.target is not None)

    def has(self, field: str) -> bool:
        return field in self.unread or bool(getattr(self.load, field))

    def type_of(self, column: str) -> str | None:
        """None if not declared, or if the columns are not known."""
        return self.declared.type_of(column) if self.declared is not None else None
