"""What a job prints, kept in a file of bounded length that holds no secret."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from lakeguard_sdk.security.secret_references import without
from lakeguard_sdk.security.secret_values import masked
from lakeguard_sdk.storage.storage import join, local_path

LOGS = "logs"
"""``<lake>/logs/<run>.log``: what the attempt of a job printed."""
MOST_HEAD = 512 * 1024
MOST_TAIL = 512 * 1024
"""Bytes that are kept of the beginning and of the end; what is between them is left out."""
LONGEST_LINE = 16 * 1024
LAST_LINES = 3
_LEAST_SECRET = 6
"""A line of a secret shorter than this is too common a text to be looked for in others."""


def log_place(lake: str, run_id: str) -> Path:
    return Path(local_path(join(lake, LOGS, f"{run_id}.log")))


class CapturedLog:
    """Takes bytes as they come; a line is written once it is whole, and without its secrets."""

    def __init__(self, place: Path, secrets: Iterable[str]) -> None:
        self._secrets = _lines_of(secrets)
        self._margin = 3 * max((len(text.encode()) for text in self._secrets), default=0)
        self._longest = LONGEST_LINE + self._margin
        self._line = b""
        self._head = 0
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._left_out = 0
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)
        place.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = place.open("wb", buffering=0)

    def take(self, data: bytes) -> None:
        if self._file.closed:  # whoever left the job's group may go on for ever
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._extend(line)
            self._end_line()
        self._extend(rest)

    def close(self) -> None:
        """The end of the log follows what was left out."""
        if self._line:
            self._end_line()
        if self._left_out:
            self._file.write(f"… {self._left_out:,} bytes are left out …\n".encode())
        for line in self._tail:
            self._file.write(self._shown(line))
        self._file.close()

    @property
    def last_lines(self) -> list[str]:
        """The last that say something."""
        return [self._shown(line).decode().strip() for line in self._last]

    def cleaned(self, text: str) -> str:
        """Any line of the job, without its secrets."""
        return masked(without(text, self._secrets))

    def tells(self, text: str) -> bool:
        """Whether a secret of the job is in the text; a short one, whether it is the text."""
        long = [secret for secret in self._secrets if len(secret) >= _LEAST_SECRET]
        return text in self._secrets or without(text, long) != text

    def _extend(self, part: bytes) -> None:
        """What a line has beyond its longest is dropped."""
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
        """Cleaned at the end, for most of them are left out by then."""
        self._tail.append(line)
        self._tail_size += len(line) + 1
        while self._tail_size > MOST_TAIL:
            gone = len(self._tail.popleft()) + 1
            self._tail_size -= gone
            self._left_out += gone

    def _shown(self, line: bytes) -> bytes:
        text = self.cleaned(line.decode("utf-8", "replace"))
        if len(line) > self._longest:  # a secret may have been cut in two, in its longest spelling
            text = text[: len(text) - self._margin][:LONGEST_LINE] + "…"
        return text.encode() + b"\n"


def _lines_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Secrets line by line, as a log is read; a secret of one line is masked however short."""
    found: set[str] = set()
    for secret in secrets:
        lines = [line.strip() for line in secret.splitlines()]
        found |= {line for line in lines if len(lines) == 1 or len(line) >= _LEAST_SECRET}
    return tuple(sorted(filter(None, found)))
