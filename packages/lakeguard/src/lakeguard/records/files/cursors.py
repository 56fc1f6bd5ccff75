"""Cursors of ``tail``: a place between two lines of the log."""

from __future__ import annotations

import re
from zlib import crc32

from lakeguard.records.files.log import LogEnd
from lakeguard_sdk.errors import UnknownCursor

_CURSOR = re.compile(r"([0-9]{1,15})\.([0-9]{1,10})\.([0-9]{1,10})\.([0-9a-f]{8})", re.ASCII)


def write_cursor(end: LogEnd, log_id: str) -> str:
    """Empty at the beginning, as before the first call."""
    if end == LogEnd():
        return ""
    place = f"{end.sequence}.{end.file}.{end.offset}"
    return f"{place}.{_checksum(place, log_id)}"


def read_cursor(cursor: str, log_id: str) -> LogEnd:
    """Raises ``UnknownCursor`` for any that ``write_cursor`` did not give for this log."""
    if not cursor:
        return LogEnd()
    given = _CURSOR.fullmatch(cursor)
    if given is None or given[4] != _checksum(cursor.rpartition(".")[0], log_id):
        raise UnknownCursor(cursor=cursor)
    return LogEnd(int(given[2]), int(given[3]), int(given[1]))


def _checksum(place: str, log_id: str) -> str:
    return f"{crc32(f'{place} {log_id}'.encode()):08x}"
