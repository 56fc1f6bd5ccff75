"""A Delta log read as it stands: checkpoint and commits, whoever wrote them.

An engine opens what it supports; to refuse a table by the name of what is not supported, its log
must be read without one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.commits import PUBLISH_APP, CommittedFile, log_file
from lakeguard_sdk.storage import join, local_path, storage_for

_COMMIT = re.compile(r"([0-9]{20})\.json")
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint(?:\.([0-9]{10})\.([0-9]{10}))?\.parquet")
_OTHER_CHECKPOINT = re.compile(r"[0-9]{20}\.checkpoint\..+\.(?:parquet|json)")
_ACTIONS = ("add", "metaData", "protocol", "txn")


class LogGap(ValueError):
    """The log does not hold all that its last version needs."""


@dataclass
class RawTable:
    """What the actions of a log add up to; ``adds`` by path, as they stand in the log."""

    version: int = -1
    protocol: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    adds: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    seq: int | None = None
    other_checkpoints: bool = False
    """Whether there are checkpoints in a form that is not read here."""

    @property
    def files(self) -> tuple[CommittedFile, ...]:
        return tuple(_file(self.adds[path]) for path in sorted(self.adds))

    def take(self, kind: str, body: Mapping[str, Any]) -> None:
        match kind:
            case "add":
                self.adds[unquote(str(body["path"]))] = body
            case "remove":
                self.adds.pop(unquote(str(body["path"])), None)
            case "protocol":
                self.protocol = body
            case "metaData":
                self.metadata = body
            case "txn" if body.get("appId") == PUBLISH_APP:
                self.seq = int(body["version"])


def read_log(location: str, version: int | None = None) -> RawTable:
    """The table at a version, else at its last; ``LogGap`` where that cannot be told."""
    folder = join(location, "_delta_log")
    names = [facts.path.rpartition("/")[2] for facts in storage_for(location).files_under(folder)]
    commits = sorted(int(found[1]) for name in names if (found := _COMMIT.fullmatch(name)))
    if not commits:
        raise LogGap("it has no commit")
    last = commits[-1] if version is None else version
    table = RawTable(
        other_checkpoints=any(
            _OTHER_CHECKPOINT.fullmatch(name) and not _CHECKPOINT.fullmatch(name) for name in names
        )
    )
    start, parts = _checkpoint(names, last)
    for part in parts:
        for kind, body in _checkpointed(local_path(join(folder, part))):
            table.take(kind, body)
    for number in range(start + 1, last + 1):
        if number not in commits:
            raise LogGap(f"commit {number} is not there")
        for kind, body in _committed(storage_for(location).read_bytes(log_file(location, number))):
            table.take(kind, body)
    table.version = last
    return table


def _checkpoint(names: list[str], last: int) -> tuple[int, list[str]]:
    """The newest whole checkpoint up to ``last``, in all its parts; -1 where there is none."""
    parts: dict[tuple[int, int], list[str]] = {}
    for name in sorted(names):
        if found := _CHECKPOINT.fullmatch(name):
            parts.setdefault((int(found[1]), int(found[3] or 1)), []).append(name)
    whole = [(key[0], held) for key, held in parts.items() if len(held) == key[1]]
    return max((item for item in whole if item[0] <= last), default=(-1, []))


def _checkpointed(file: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with pq.ParquetFile(file) as content:
        held = [name for name in _ACTIONS if name in content.schema_arrow.names]
        for batch in content.iter_batches(columns=held):
            for row in pa.Table.from_batches([batch]).to_pylist(maps_as_pydicts="strict"):
                yield from ((kind, body) for kind, body in row.items() if body is not None)


def _committed(data: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for line in data.split(b"\n"):
        if line.strip():
            yield from json.loads(line).items()


def _file(add: Mapping[str, Any]) -> CommittedFile:
    return CommittedFile(
        path=unquote(str(add["path"])),
        size=int(add["size"]),
        stats=str(add.get("stats") or ""),
        partition=dict(add.get("partitionValues") or {}),
    )
