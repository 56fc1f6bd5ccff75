"""Job logs: size-limited files with secrets masked."""

from __future__ import annotations

import logging
import tempfile
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from lakeguard_sdk.errors import StoreUnavailable
from lakeguard_sdk.security.secret_references import without
from lakeguard_sdk.security.secret_values import masked
from lakeguard_sdk.storage.storage import is_remote, join, local_path, storage_for

LOGS = "logs"
"""``<lake>/logs/<run>.log``: output of one attempt."""
MOST_HEAD = 512 * 1024
MOST_TAIL = 512 * 1024
"""Bytes stored of the beginning and of the end; the middle is dropped."""
LONGEST_LINE = 16 * 1024
LAST_LINES = 3
_LOG = logging.getLogger(__name__)
_LEAST_SECRET = 6
"""Shorter lines of a secret are too common to be masked inside other text."""


def log_place(lake: str, run_id: str) -> str:
    return join(lake, LOGS, f"{run_id}.log")


class JobLog:
    """Accepts bytes in any chunks; writes complete lines with secrets masked."""

    def __init__(self, location: str, secrets: Iterable[str]) -> None:
        self._location = location
        self._secrets = _lines_of(secrets)
        self._margin = 3 * max((len(text.encode()) for text in self._secrets), default=0)
        self._longest = LONGEST_LINE + self._margin
        self._line = b""
        self._head = 0
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._left_out = 0
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)
        self._file = _opened(location)

    def take(self, data: bytes) -> None:
        if self._file.closed:  # a process that left the group may write on
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._extend(line)
            self._end_line()
        self._extend(rest)

    def close(self) -> None:
        """Writes the tail of the log after a note about dropped bytes."""
        if self._line:
            self._end_line()
        if self._left_out:
            self._file.write(f"… {self._left_out:,} bytes dropped …\n".encode())
        for line in self._tail:
            self._file.write(self._shown(line))
        try:
            if is_remote(self._location):
                self._file.seek(0)
                storage_for(self._location).replace(self._location, self._file.read())
        except (OSError, StoreUnavailable) as error:  # the job has ended; its report matters more
            _LOG.error("The log of a job was not stored at %s: %s", self._location, error)
        finally:
            self._file.close()

    @property
    def last_lines(self) -> list[str]:
        """The last non-blank lines."""
        return [self._shown(line).decode().strip() for line in self._last]

    def cleaned(self, text: str) -> str:
        """The text with secrets masked."""
        return masked(without(text, self._secrets))

    def contains_secret(self, text: str) -> bool:
        """Whether the text contains a secret of the job, or equals a short one."""
        long = [secret for secret in self._secrets if len(secret) >= _LEAST_SECRET]
        return text in self._secrets or without(text, long) != text

    def _extend(self, part: bytes) -> None:
        """Drops bytes beyond the maximum line length."""
        self._line += part[: self._longest + 1 - len(self._line)]

    def _end_line(self) -> None:
        line, self._line = self._line, b""
        if line.strip():
            self._last.append(line)
        shown = b"" if self._tail else self._shown(line)
        if self._tail or self._head + len(shown) > MOST_HEAD:
            self._keep_last(line)
        else:
            self._head += self._file.write(shown)

    def _keep_last(self, line: bytes) -> None:
        """Masked on close, because most lines are dropped before."""
        self._tail.append(line)
        self._tail_size += len(line) + 1
        while self._tail_size > MOST_TAIL:
            gone = len(self._tail.popleft()) + 1
            self._tail_size -= gone
            self._left_out += gone

    def _shown(self, line: bytes) -> bytes:
        text = self.cleaned(line.decode("utf-8", "replace"))
        if len(line) > self._longest:  # the cut may have split a secret
            text = text[: len(text) - self._margin][:LONGEST_LINE] + "…"
        return text.encode() + b"\n"


def _opened(location: str) -> IO[bytes]:
    """A local file; the log of a lake in an object store is written there when it is closed."""
    if is_remote(location):
        return tempfile.TemporaryFile("w+b", buffering=0)
    place = Path(local_path(location))
    place.parent.mkdir(parents=True, exist_ok=True)
    return place.open("wb", buffering=0)


def _lines_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Lines of the secrets; short lines count only for single-line secrets."""
    found: set[str] = set()
    for secret in secrets:
        lines = [line.strip() for line in secret.splitlines()]
        found |= {line for line in lines if len(lines) == 1 or len(line) >= _LEAST_SECRET}
    return tuple(sorted(filter(None, found)))
