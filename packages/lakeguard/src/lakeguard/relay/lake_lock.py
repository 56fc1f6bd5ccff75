"""The lock of a lake's ledger against other States.

In a folder it is a file lock, which ends with its process. In an object store it is a lease: an
object that its holder renews. Its age is told by the store's clock, never by those of two machines.
A holder that stalls for longer than the lease may lose it. Then two may write at once, and the
second to change ``plane.json`` fails, because that is conditional.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from lakeguard.state.locks import sole_by_file
from lakeguard_sdk.errors import StoreUnavailable
from lakeguard_sdk.storage.storage import is_remote, join, local_path, storage_for

LOCK = ".writing.lock"
_CLOCK = ".clock"
LEASE_SECONDS = 30.0
_RENEWALS = 3
"""Within the time of a lease."""
_PAUSE_SECONDS = 0.5


def alone_on_lake(root: str, wait_seconds: float) -> AbstractContextManager[bool]:
    """Lock the ledger against other States; False if another holds the lock."""
    if is_remote(root):
        return _sole_by_lease(join(root, LOCK), wait_seconds)
    return sole_by_file(Path(local_path(join(root, LOCK))), wait_seconds)


@contextmanager
def _sole_by_lease(location: str, wait_seconds: float) -> Iterator[bool]:
    lease = Lease(location)
    deadline = time.monotonic() + wait_seconds
    while not lease.acquire():
        if time.monotonic() >= deadline:
            yield False
            return
        time.sleep(_PAUSE_SECONDS)
    done = threading.Event()
    renewing = threading.Thread(target=lease.keep, args=(done,), daemon=True, name="lake-lock")
    renewing.start()
    try:
        yield True
    finally:
        done.set()
        renewing.join()
        lease.release()


class Lease:
    """An object of its own content that exists while it is held."""

    def __init__(self, location: str, seconds: float | None = None) -> None:
        self._location, self._seconds = location, seconds or LEASE_SECONDS
        self._storage = storage_for(location)
        self._token = secrets.token_hex(16)

    def acquire(self) -> bool:
        """Take it if nobody holds it, or if its holder has not renewed it for its time."""
        if self._storage.create(self._location, self._content()):
            return True
        try:
            held = self._storage.mark(self._location)
        except FileNotFoundError:
            return False
        if (self._now_ns() - held.changed_ns) / 1e9 <= self._seconds:
            return False
        return self._storage.update(self._location, self._content(), held)

    def keep(self, done: threading.Event) -> None:
        """Renew it until ``done``, or until another has taken it."""
        while not done.wait(self._seconds / _RENEWALS):
            # It is tried again: the lease lasts longer than one attempt.
            with suppress(OSError, StoreUnavailable):
                held = self._storage.mark(self._location)
                if not self._is_ours():
                    return
                self._storage.update(self._location, self._content(), held)

    def release(self) -> None:
        """Remove it, unless another has taken it over."""
        with suppress(OSError, StoreUnavailable):  # it ends by itself
            if self._is_ours():
                self._storage.remove(self._location, self._location)

    def _is_ours(self) -> bool:
        return self._storage.read_bytes(self._location).startswith(self._token.encode())

    def _content(self) -> bytes:
        """New with every write: a store may give equal content an equal mark."""
        return f"{self._token} {secrets.token_hex(8)}\n".encode()

    def _now_ns(self) -> int:
        """The time of the store."""
        place = f"{self._location}{_CLOCK}"
        self._storage.replace(place, self._content())
        return self._storage.mark(place).changed_ns
