"""Reading from a socket that may be slow, or never come to an end."""

from __future__ import annotations

import io
import socket
import time
from typing import Any


class TooLong(Exception):
    """More came than anybody wants to look at."""


class TimedBytes(io.RawIOBase):
    """What a socket brings until the deadline, however slowly it comes, and no more than the first
    ``most`` bytes of it: ``TimeoutError`` or ``TooLong`` for the rest."""

    def __init__(self, sock: socket.socket, deadline: float, most: int | None = None) -> None:
        self._sock, self._deadline, self._left = sock, deadline, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left is not None and self._left <= 0:
            raise TooLong
        self._sock.settimeout(seconds_left(self._deadline))
        count = self._sock.recv_into(memoryview(buffer)[: self._left])
        if self._left is not None:
            self._left -= count
        return count


def seconds_left(deadline: float) -> float:
    """Until the deadline, by the clock that only goes on; ``TimeoutError`` once it is over."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
