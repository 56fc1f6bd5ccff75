"""Features of Delta tables that keep us from governing one, each with the way out of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lakeguard.lake.raw_log import RawTable

COPY = "copy its rows: CREATE TABLE delta.`…` AS SELECT * FROM …, then adopt the copy"

_KNOWN = frozenset({"appendOnly", "invariants", "timestampNtz"})
"""What may stand in the protocol of a governed table: nothing that changes what a file says."""

_WAYS_OUT = {
    "changeDataFeed": "ALTER TABLE … SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false'),"
    " then ALTER TABLE … DROP FEATURE changeDataFeed",
    "checkConstraints": "ALTER TABLE … DROP CONSTRAINT …, then ALTER TABLE … DROP FEATURE"
    " checkConstraints; rules say the same here",
    "checkpointProtection": "ALTER TABLE … DROP FEATURE checkpointProtection TRUNCATE HISTORY",
    "columnMapping": "ALTER TABLE … SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none'), then"
    " ALTER TABLE … DROP FEATURE columnMapping",
    "deletionVectors": "ALTER TABLE … SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false'),"
    " REORG TABLE … APPLY (PURGE), then ALTER TABLE … DROP FEATURE deletionVectors",
}
_PROPERTIES = {
    "delta.appendOnly": "appendOnly",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableTypeWidening": "typeWidening",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
}
_OFF = "ALTER TABLE … SET TBLPROPERTIES ('{property}' = 'false')"
_IN_COLUMNS = {
    "delta.generationExpression": ("generated", COPY),
    "delta.invariants": ("bound by an invariant", COPY),
    "delta.identity.start": ("an identity", COPY),
    "CURRENT_DEFAULT": ("given a default", "ALTER TABLE … ALTER COLUMN {column} DROP DEFAULT"),
    "__CHAR_VARCHAR_TYPE_STRING": (
        "bound to a length",
        "ALTER TABLE … ALTER COLUMN {column} TYPE STRING",
    ),
}


class Obstacle(NamedTuple):
    """What keeps a table from being governed, and what its owner can do."""

    reason: str
    way_out: str


def obstacles(table: RawTable) -> Iterator[Obstacle]:
    """Every feature in the way, the most telling first."""
    properties: Mapping[str, str] = table.metadata.get("configuration") or {}
    yield from _in_properties(properties)
    yield from _in_schema(str(table.metadata.get("schemaString") or "{}"))
    yield from _in_protocol(table.protocol)
    if table.other_checkpoints:
        yield Obstacle("it uses v2Checkpoint", COPY)
    for add in table.adds.values():
        if add.get("deletionVector"):
            yield Obstacle("it uses deletionVectors", _WAYS_OUT["deletionVectors"])


def _in_properties(properties: Mapping[str, str]) -> Iterator[Obstacle]:
    for key, value in sorted(properties.items()):
        if key.startswith("delta.constraints."):
            yield Obstacle(
                f"it uses checkConstraints: {key.removeprefix('delta.constraints.')}",
                _WAYS_OUT["checkConstraints"],
            )
        feature = _PROPERTIES.get(key)
        if feature is not None and value.lower() == "true":
            usual = _OFF.format(property=key)
            yield Obstacle(f"it uses {feature}", _WAYS_OUT.get(feature, usual))
    if properties.get("delta.columnMapping.mode", "none") != "none":
        yield Obstacle("it uses columnMapping", _WAYS_OUT["columnMapping"])


def _in_schema(schema: str) -> Iterator[Obstacle]:
    for column in json.loads(schema).get("fields") or ():
        name, told = str(column["name"]), column.get("metadata") or {}
        for key, (what, way_out) in _IN_COLUMNS.items():
            if key in told:
                yield Obstacle(f"its column {name} is {what}", way_out.format(column=name))
        if not column.get("nullable", True):
            way_out = f"ALTER TABLE … ALTER COLUMN {name} DROP NOT NULL; not_null is a rule here"
            yield Obstacle(f"its column {name} is NOT NULL, which no rule could relax", way_out)


def _in_protocol(protocol: Mapping[str, Any]) -> Iterator[Obstacle]:
    features = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
    for feature in sorted(features - _KNOWN):
        yield Obstacle(f"it uses {feature}", _WAYS_OUT.get(feature, COPY))
    reader, writer = protocol.get("minReaderVersion"), protocol.get("minWriterVersion")
    if reader not in (1, 3) or writer not in (1, 2, 7):
        yield Obstacle(f"it needs reader {reader} and writer {writer}", COPY)
