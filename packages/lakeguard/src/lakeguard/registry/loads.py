"""The ``load`` of a dataset file: how a batch becomes part of the table."""

from __future__ import annotations

from lakeguard.registry.details import read_columns_named
from lakeguard.registry.fields import Fields
from lakeguard.registry.nodes import Block, Scalar
from lakeguard_sdk.load import Load
from lakeguard_sdk.words import Deletes, HashStrategy, LateRows, LoadType, NullWatermark

KEYS = tuple(Load.model_fields)
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
    before = fields.findings.count
    load = Fields(fields.document, block, fields.findings, KEYS)
    texts = ("watermark", "lag", "operation", "effective")
    flags = ("inclusive", "allow_empty", "skip_unchanged")
    said = {
        "type": _type(load, "type"),
        "hash": load.choice("hash", HashStrategy, HashStrategy.NONE),
        "null_watermark": load.choice("null_watermark", NullWatermark, NullWatermark.REFUSE),
        "late": load.choice("late", LateRows, LateRows.LOAD),
        "deletes": load.choice("deletes", Deletes, Deletes.HARD),
        **{key: load.text(key) or "" for key in texts},
        **{key: load.flag(key, False) for key in flags},
        **{key: read_columns_named(load, key) for key in ("keys", "order_by", "partition_by")},
    }
    return None if fields.findings.count > before else Load.model_validate(said)


def _type(fields: Fields, key: str) -> LoadType | None:
    node = fields.node(key)
    alias = ALIASES.get(node.value) if isinstance(node, Scalar) else None
    return alias or fields.choice(key, LoadType)
