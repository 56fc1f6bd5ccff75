"""Whose a token is, as it was read a moment ago, and whether a task is still let in.

A revocation works within ``FRESH_SECONDS``.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from lakeguard.access.authorise import is_over
from lakeguard.access.grants import is_active
from lakeguard.access.principal import Principal, TaskGrants
from lakeguard.access.session import FRESH_SECONDS, require_holder
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import BadToken

_MOST = 10_000


@dataclass
class TrustedTokens:
    """Thread-safe. Neither a token nor its secret is held, only a hash."""

    state: OrganisationState
    clock: Callable[[], float] = monotonic
    _known: dict[bytes, tuple[Principal, float]] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def principal(self, text: str, read: Callable[[], Principal]) -> Principal:
        """Whose token it is, as it was read last; what ``read`` refuses is not remembered."""
        key = hashlib.sha256(text.encode()).digest()
        now = self.clock()
        known = self._known.get(key)
        is_recent = known is not None and now - known[1] < FRESH_SECONDS
        if known is not None and is_recent and not is_over(known[0], self.state.clock()):
            return known[0]
        found = read()
        with self._turn:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = (found, now)
        return found


@dataclass(frozen=True)
class StandingTasks:
    """Refuses tasks of a disabled organisation, or of a worker that may no longer work. Tokens of
    users and services are refused where they are read."""

    state: OrganisationState

    def require(self, task: TaskGrants) -> None:
        """``BadToken`` for such a task."""
        with self.state.read() as tx:
            if not is_active(tx, tx.org_id):
                raise BadToken()
        require_holder(self.state, task)
