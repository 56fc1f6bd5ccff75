"""Compacted commits: files of a Delta log that repeat a range of commits. Spark reads them instead
of the commits; delta-rs does not, so what they say is compared here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.storage import join, storage_for

_NAME = re.compile(r"([0-9]{20})\.([0-9]{20})\.compacted\.json")
_BY = {"txn": "appId", "domainMetadata": "domain"}
_LATEST = ("metaData", "protocol")
_FREE = frozenset({"dataChange"})
"""A compaction may say of every file that it changes nothing."""

State = dict[tuple[str, ...], Any]


def compacted_difference(location: str) -> str | None:
    """The first file that does not say what its commits say, or None.

    A range whose commits are gone is not compared: readers need a later checkpoint then.
    """
    try:
        names = storage_for(location).names_in(join(location, "_delta_log"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    for name in names:
        found = _NAME.fullmatch(name)
        if found is None:
            continue
        first, last = int(found[1]), int(found[2])
        if first > last or _differs(location, name, range(first, last + 1)):
            return f"{name} does not say what its commits say"
    return None


def _differs(location: str, name: str, versions: range) -> bool:
    storage = storage_for(location)
    expected: State = {}
    try:
        for version in versions:
            _apply(storage.read_bytes(log_file(location, version)), expected)
    except FileNotFoundError:
        return False
    said: State = {}
    try:
        _apply(storage.read_bytes(join(location, "_delta_log", name)), said)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return True
    return said != expected


def _apply(data: bytes, state: State) -> None:
    """What a reader knows after these actions."""
    for kind, body in _actions(data):
        if kind in ("add", "remove"):
            vector = json.dumps(body.get("deletionVector"), sort_keys=True)
            said = {key: value for key, value in body.items() if key not in _FREE}
            state["file", body["path"], vector] = (kind, said if kind == "add" else None)
        elif kind in _LATEST:
            state[kind,] = body
        elif kind in _BY:
            state[kind, body[_BY[kind]]] = body


def _actions(data: bytes) -> Iterator[tuple[str, Any]]:
    for line in data.splitlines():
        if line.strip():
            yield from json.loads(line).items()
