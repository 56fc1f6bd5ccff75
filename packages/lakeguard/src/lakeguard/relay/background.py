"""Delivering while the process goes on, and once more when it ends.

A command of a few seconds delivers after its answer is printed; a long-lived process delivers
beside its work. Whatever a process could not deliver, the next one does.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from contextlib import suppress
from importlib import import_module

from sqlalchemy import Connection, event

from lakeguard.relay.relay import Relay
from lakeguard.state.engines import is_reading
from lakeguard_sdk.errors import LakeGuardError

QUIET_SECONDS = 2.0
"""How long after a commit its rows wait for others to go with."""

_keepers: weakref.WeakSet[Keeper] = weakref.WeakSet()


class Keeper:
    """Notices commits on a State and has them delivered."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.behind = not relay.is_idle()
        self._own = threading.local()
        self._timer: threading.Timer | None = None
        event.listen(relay.database.engine, "commit", self._committed)

    def deliver(self, threads: int | None = None) -> None:
        """Bring the ledger up to date, if anything was committed since."""
        if not self.behind:
            return
        self._own.delivering = True
        try:
            self.behind = False
            self.relay.drain() if threads is None else self.relay.drain(threads)
        except BaseException:
            self.behind = True
            raise
        finally:
            self._own.delivering = False

    def _committed(self, connection: Connection) -> None:
        if is_reading(connection) or getattr(self._own, "delivering", False):
            return
        self.behind = True
        self._schedule()

    def _schedule(self) -> None:
        if self._timer is None or not self._timer.is_alive():
            self._timer = threading.Timer(QUIET_SECONDS, self._in_background)
            self._timer.daemon = True
            self._timer.start()

    def _in_background(self) -> None:
        """What fails here, for whatever reason, is tried again at the next commit and at the end;
        there it is told."""
        with suppress(Exception):
            self.deliver()


def keep_delivered(relay: Relay) -> None:
    _keepers.add(Keeper(relay))


def get_ready() -> None:
    """Load what delivering needs while the caller does something else."""
    threading.Thread(target=import_module, args=["lakeguard.relay.delivering"], daemon=True).start()


def deliver_all(threads: int | None = None) -> None:
    """What this process committed and the ledger has not yet."""
    for keeper in list(_keepers):
        keeper.deliver(threads)


@atexit.register
def _at_exit() -> None:
    """No thread can be started any more, and nobody reads a complaint."""
    with suppress(LakeGuardError, OSError):
        deliver_all(threads=1)
