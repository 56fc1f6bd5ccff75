"""The ``load`` of a dataset file: how a batch becomes part of the table."""

from __future__ import annotations

from lakeguard.registry.details import read_columns_named
from lakeguard.registry.fields import Fields
from lakeguard.registry.nodes import Block, Scalar
from lakeguard_sdk.load import Load
from lakeguard_sdk.words import HashStrategy, LoadType

KEYS = ("type", "keys", "hash", "watermark", "partition_by")
ALIASES = {"HYBRID": LoadType.APPEND}


def read_load(fields: Fields) -> Load | None:
    """``{type: APPEND}``, the type alone, or nothing at all, which is FULL."""
    node = fields.node("load")
    if node is None:
        return Load(type=LoadType.FULL)
    if isinstance(node, Scalar):
        short = _type(fields, "load")
        return None if short is None else Load(type=short)
    block = fields.block_at("load", "{type: FULL}")
    return None if block is None else _spelled_out(fields, block)


def _spelled_out(fields: Fields, block: Block) -> Load | None:
    load = Fields(fields.document, block, fields.findings, KEYS)
    load_type = _type(load, "type")
    keys = read_columns_named(load, "keys")
    hashed = load.choice("hash", HashStrategy, HashStrategy.NONE)
    watermark = load.text("watermark") or ""
    partition_by = read_columns_named(load, "partition_by")
    if load_type is None or hashed is None:
        return None
    return Load(
        type=load_type, keys=keys, hash=hashed, watermark=watermark, partition_by=partition_by
    )


def _type(fields: Fields, key: str) -> LoadType | None:
    node = fields.node(key)
    alias = ALIASES.get(node.value) if isinstance(node, Scalar) else None
    return alias or fields.choice(key, LoadType)
