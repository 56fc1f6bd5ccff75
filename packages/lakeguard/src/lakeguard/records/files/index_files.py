"""``index.json``: the catalogue of artifacts with their latest versions, and up to which line of
the log it holds. Beside it, a file with the places of all records, so that a start reads neither
the whole log nor each place.

A projection: whatever is wrong with it, the log is read instead.
"""

from __future__ import annotations

import json
import logging
import secrets
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

from lakeguard.records.files.index import RecordIndex
from lakeguard.records.files.log import LogEnd, RecordLog, shown_place
from lakeguard.records.files.log_lines import DamagedBytes, seal, unseal
from lakeguard.records.files.series import ROW_BYTES, Series
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.errors import RecordsDamaged, StoreUnavailable
from lakeguard_sdk.records.record import MetadataTarget
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.storage import join, storage_for

_logger = logging.getLogger(__name__)

INDEX = "index.json"
PLACES = "index"
_FORMAT = 1
_TRIES = 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class IndexFiles:
    def __init__(self, root: str, log: RecordLog) -> None:
        self._root, self._log = root, log
        self._storage = storage_for(root)
        self._index = join(root, INDEX)

    def load(self) -> RecordIndex:
        """The index as it was saved, or an empty one; both are to catch up with the log. Raises
        ``RecordsDamaged`` if the log ends before what was saved of it."""
        files = self._log.files()
        self._require_contiguous(files)
        for _ in range(_TRIES):
            try:
                return self._saved(files)
            except FileNotFoundError:  # not yet, or replaced while it was read
                continue
            except (DamagedBytes, KeyError, TypeError, ValueError) as error:
                _logger.warning("%s is not used: %s; the log is read instead", self._index, error)
                break
        return RecordIndex(LogEnd())

    def save(self, index: RecordIndex) -> None:
        """Writes the index; the one before stays in use until the new one is complete."""
        before = self._name_of_places()
        with index.lock:
            end = index.end
            series = sorted((each for each in index.series.values() if len(each)), key=_order)
            places = b"".join(each.to_bytes() for each in series)
            artifacts = _artifacts(self._log, series)
        name = f"{PLACES}/{end.sequence:012}.{secrets.token_hex(4)}.places"
        content = {
            "format": _FORMAT,
            "log": {**end._asdict(), "last": self._last_line(end)},
            "places": {"name": name, "checksum": crc32(places), "byte_order": sys.byteorder},
            "artifacts": artifacts,
        }
        self._storage.replace(join(self._root, name), places)
        reached("records.placed")
        self._storage.replace(self._index, seal(json.dumps(content).encode()))
        reached("records.indexed")
        if before is not None and before != name:
            self._remove(before)

    def discard(self) -> None:
        """Removes all that ``save`` wrote."""
        if self._storage.exists(self._index):
            self._storage.remove(self._index, self._root)
        folder = join(self._root, PLACES)
        if self._storage.has_files(folder):
            for name in self._storage.names_in(folder):
                self._remove(f"{PLACES}/{name}")

    def _saved(self, files: Sequence[int]) -> RecordIndex:
        found = unseal(self._storage.read_bytes(self._index))
        places = found["places"]
        if found["format"] != _FORMAT or places["byte_order"] != sys.byteorder:
            raise DamagedBytes("it was written by another version or machine")
        content = memoryview(self._storage.read_bytes(join(self._root, places["name"])))
        if crc32(content) != places["checksum"]:
            raise DamagedBytes(f"{places['name']}: the checksum does not fit")
        log = found["log"]
        index = RecordIndex(LogEnd(log["file"], log["offset"], log["sequence"]))
        self._require_in_log(index.end, log["last"], files)
        start = 0
        for artifact in found["artifacts"]:
            target = MetadataTarget(
                source_id=artifact["source_id"], schema_=artifact["schema"], table=artifact["table"]
            )
            for kind, facts in artifact["kinds"].items():
                length = facts["records"] * ROW_BYTES
                index.of(kind, target).fill(content[start : start + length])
                start += length
        return index

    def _require_contiguous(self, files: Sequence[int]) -> None:
        for number, file in enumerate(files, 1):
            if number != file:
                raise RecordsDamaged(
                    place=f"{self._log.place}/{self._log.name(number)}", reason="it is missing"
                )

    def _require_in_log(self, end: LogEnd, last: str, files: Sequence[int]) -> None:
        if end.offset and (end.file not in files or self._last_line(end) != last):
            raise RecordsDamaged(
                place=f"{self._log.place}/{self._log.name(end.file)}",
                reason=f"its {end.offset} bytes, up to line {end.sequence - 1}, were other ones",
            )

    def _last_line(self, end: LogEnd) -> str:
        """The end of the last line, with its checksum: it differs in another log."""
        length = min(end.offset, 24)
        return self._log.read(end.file, end.offset - length, length).decode("ascii", "replace")

    def _name_of_places(self) -> str | None:
        with suppress(OSError, DamagedBytes, KeyError, TypeError):
            return str(unseal(self._storage.read_bytes(self._index))["places"]["name"])
        return None

    def _remove(self, name: str) -> None:
        with suppress(OSError, StoreUnavailable):  # it is only in the way
            self._storage.remove(join(self._root, name), self._root)


def _order(series: Series) -> tuple[str, str]:
    return series.target.key, series.kind


def _artifacts(log: RecordLog, series: Sequence[Series]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for each in series:
        target = each.target
        if not found or found[-1]["key"] != target.key:
            names = {
                "source_id": target.source_id, "schema": target.schema_, "table": target.table
            }  # fmt: skip
            found.append({"key": target.key, **names, "kinds": {}})
        latest = each.latest()
        if latest is not None:
            found[-1]["kinds"][each.kind] = {
                "records": len(each),
                "latest": {
                    "produced_at": format_instant(_EPOCH + timedelta(microseconds=latest.key[0])),
                    "version": latest.key.version,
                    "place": shown_place(log, latest.place),
                },
            }
    return found
