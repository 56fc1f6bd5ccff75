"""Lines of the log of records: JSON that ends with a checksum of what stands before it.

A line carries its sequence number, and how many lines of its batch follow: a batch whose last line
is missing was never acknowledged.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from zlib import crc32

_MARK = b',"checksum":"'
_LENGTH = len(_MARK) + 8 + len(b'"}')


class DamagedBytes(ValueError):
    """Bytes that are not those that were written."""


class LogLine(NamedTuple):
    sequence: int
    left: int
    """Lines of the same batch that follow."""
    record_id: str
    record: dict[str, Any]


def seal(content: bytes) -> bytes:
    """A JSON object, with its checksum as the last field."""
    head = content[:-1]
    return b'%b%b%08x"}' % (head, _MARK, crc32(head))


def unseal(sealed: bytes) -> Any:
    """The JSON object without its checksum; raises ``DamagedBytes``."""
    head, end = sealed[:-_LENGTH], sealed[-_LENGTH:]
    if end != b'%b%08x"}' % (_MARK, crc32(head)):
        raise DamagedBytes("the checksum does not fit")
    try:
        return json.loads(head + b"}")
    except ValueError as error:
        raise DamagedBytes(str(error)) from None


def checksum_of(sealed: bytes) -> str:
    return sealed[-10:-2].decode("ascii", "replace")


def write_line(sequence: int, left: int, record_id: str, text: str) -> bytes:
    head = f'{{"sequence":{sequence},"left":{left},"record_id":"{record_id}","record":{text}}}'
    return seal(head.encode()) + b"\n"


def read_line(raw: bytes) -> LogLine:
    """A line as it was written, with or without its end; raises ``DamagedBytes``."""
    found = unseal(raw.removesuffix(b"\n"))
    return LogLine(found["sequence"], found["left"], found["record_id"], found["record"])


def is_damaged_end(raw: bytes) -> bool:
    """Whether bytes at the end of the log, without a line end, are a whole line whose end was
    changed. They are part of a line otherwise."""
    try:
        read_line(raw[:-1])
    except (DamagedBytes, KeyError):
        return False
    return True
