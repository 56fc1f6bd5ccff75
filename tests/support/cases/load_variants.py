"""Every load that a table can have, in the ways that matter."""

from __future__ import annotations

from typing import Any

from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.model.load import Load

_KEYED: dict[str, Any] = {"keys": ("k",), "order_by": ("n",)}
_FEED: dict[str, Any] = {"keys": ("k",), "order_by": ("n",), "operation": "op"}
_TIMED: dict[str, Any] = {**_FEED, "effective": "at"}
_SKIP: dict[str, Any] = {"watermark": "n", "late": LateRows.SKIP}

VARIANTS: dict[LoadType, dict[str, Load]] = {
    LoadType.FULL: {
        "plain": Load(type=LoadType.FULL),
        "latest": Load(type=LoadType.FULL, **_KEYED),
    },
    LoadType.APPEND: {
        "plain": Load(type=LoadType.APPEND),
        "keys": Load(type=LoadType.APPEND, **_KEYED),
        "unordered": Load(type=LoadType.APPEND, keys=("k",)),
        "late": Load(type=LoadType.APPEND, null_watermark=NullWatermark.SKIP, **_SKIP),
    },
    LoadType.PARTITION: {
        "plain": Load(type=LoadType.PARTITION, partition_by=("g",)),
        "latest": Load(type=LoadType.PARTITION, partition_by=("g",), **_KEYED),
    },
    LoadType.INCREMENTAL: {
        "plain": Load(type=LoadType.INCREMENTAL, **_KEYED),
        "row hash": Load(type=LoadType.INCREMENTAL, hash=HashStrategy.ROW_HASH, **_KEYED),
        "key hash": Load(type=LoadType.INCREMENTAL, hash=HashStrategy.KEY_HASH, **_KEYED),
        "unordered": Load(type=LoadType.INCREMENTAL, keys=("k",)),
        "two keys": Load(type=LoadType.INCREMENTAL, keys=("at", "k"), order_by=("n", "v")),
        "parts": Load(type=LoadType.INCREMENTAL, partition_by=("g",), **_KEYED),
        "late": Load(
            type=LoadType.INCREMENTAL,
            null_watermark=NullWatermark.LOAD,
            lag="2",
            inclusive=True,
            **_SKIP,
            **_KEYED,
        ),
    },
    LoadType.SNAPSHOT: {
        "hard": Load(type=LoadType.SNAPSHOT, **_KEYED),
        "soft": Load(type=LoadType.SNAPSHOT, deletes=Deletes.SOFT, **_KEYED),
        "row hash": Load(
            type=LoadType.SNAPSHOT, deletes=Deletes.SOFT, hash=HashStrategy.ROW_HASH, **_KEYED
        ),
    },
    LoadType.CDC: {
        "hard": Load(type=LoadType.CDC, **_FEED),
        "soft": Load(type=LoadType.CDC, deletes=Deletes.SOFT, **_FEED),
        "row hash": Load(
            type=LoadType.CDC, deletes=Deletes.SOFT, hash=HashStrategy.ROW_HASH, **_FEED
        ),
    },
    LoadType.SCD2: {
        "timed": Load(type=LoadType.SCD2, **_TIMED),
        "row hash": Load(type=LoadType.SCD2, hash=HashStrategy.ROW_HASH, **_TIMED),
        "by task": Load(type=LoadType.SCD2, **_FEED),
        "no deletes": Load(type=LoadType.SCD2, effective="at", **_KEYED),
        "unordered": Load(type=LoadType.SCD2, keys=("k",), effective="at"),
        "unordered, by task": Load(type=LoadType.SCD2, keys=("k",), hash=HashStrategy.ROW_HASH),
    },
}
STEPS = ("again", "crash", "back", "blocked", "grow", "fill_back")
