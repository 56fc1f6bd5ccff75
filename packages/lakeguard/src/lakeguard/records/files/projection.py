"""A file for each record, for people and other tools: ``records/<kind>/<target>/<time>_<run>…``.

A projection of the log, written while nobody stores, or by ``rebuild_index``. No answer is read
from these files. A process that dies leaves the rest to the next one that stores.
"""

from __future__ import annotations

import json
import logging
import threading
from itertools import islice

from lakeguard.records.files.index import RecordIndex
from lakeguard.records.files.log import LogEnd, RecordLog, entries
from lakeguard.records.files.log_lines import DamagedBytes, LogLine, seal, unseal
from lakeguard.records.files.names import RECORDS, record_file
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.storage import join, storage_for

_logger = logging.getLogger(__name__)

_POSITION = ".written.json"
_QUIET_SECONDS = 0.25
_AT_ONCE = 50
"""Files that are written before the next look at whether somebody stores; the most at a close."""


class RecordFiles:
    """The files, and up to which line of the log they are written."""

    def __init__(self, root: str, log: RecordLog) -> None:
        self._folder = join(root, RECORDS)
        self._log = log
        self._storage = storage_for(root)
        self._position = join(self._folder, _POSITION)

    def write_some(self, until: LogEnd, count: int = _AT_ONCE) -> bool:
        """Writes the next files; whether all are written."""
        start = self._written()
        if start.sequence >= until.sequence:
            return True
        left = until.sequence - start.sequence
        end = start
        for entry in islice(entries(self._log, start), min(count, left)):
            self._write(entry.line)
            end = entry.after
        reached("records.projected")
        self._storage.replace(self._position, seal(json.dumps(end._asdict()).encode()))
        return left <= count

    def forget(self) -> None:
        """All files are to be written again."""
        if self._storage.exists(self._position):
            self._storage.remove(self._position, self._folder)

    def damaged_files(self) -> list[str]:
        """Files that have other bytes than were written."""
        if not self._storage.has_files(self._folder):
            return []
        found = []
        for facts in self._storage.files_under(self._folder):
            if facts.path.endswith(".json"):
                try:
                    unseal(self._storage.read_bytes(facts.path))
                except DamagedBytes:
                    found.append(facts.path)
        return found

    def _written(self) -> LogEnd:
        try:
            found = LogEnd(**unseal(self._storage.read_bytes(self._position)))
        except (FileNotFoundError, DamagedBytes, TypeError):
            return LogEnd()
        return found

    def _write(self, line: LogLine) -> None:
        content = {"record_id": line.record_id, "record": line.record}
        place = join(self._folder, record_file(line.record_id, line.record))
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        self._storage.replace(place, seal(text.encode()))


class Projector:
    """Writes files in a thread of its own, once somebody has stored and while nobody does."""

    def __init__(self, files: RecordFiles, index: RecordIndex) -> None:
        self._files, self._index = files, index
        self._stored, self._closing = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def wake(self) -> None:
        self._stored.set()
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, daemon=True, name="record-files")
                self._thread.start()

    def close(self) -> None:
        """Writes what a short-lived process stored; more is left to the next one that stores."""
        self._closing.set()
        self._stored.set()
        if self._thread is not None:
            self._thread.join()
            self._write()

    def _run(self) -> None:
        while self._stored.wait() and not self._closing.is_set():
            self._stored.clear()
            self._closing.wait(_QUIET_SECONDS)
            if not self._stored.is_set() and not self._write():
                self._stored.set()

    def _write(self) -> bool:
        """Whether there is nothing left that could be written."""
        try:
            return self._files.write_some(self._index.end)
        except (OSError, LakeGuardError) as error:
            _logger.warning("files of records are not written: %s", error)
            return True
