"""The run port of a remote worker, with a task token for each open run."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from lakeguard_sdk.api.transport import RemotePort
from lakeguard_sdk.errors import BadToken, Fenced, LakeGuardError
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.task_token import LIFETIME


class _Held(NamedTuple):
    token: str
    at: float

    def is_older(self, seconds: float, now: float) -> bool:
        return now - self.at >= seconds


@dataclass(frozen=True)
class TaskRuns:
    """``port`` authenticates with the worker's own token. Calls of an open run use a task token,
    which heartbeats renew.

    Thread-safe. Task tokens are only in memory.
    """

    port: RemotePort
    clock: Callable[[], float] = time.monotonic
    _held: dict[str, _Held] = field(default_factory=dict, repr=False)
    """By run."""

    def __getattr__(self, method: str) -> Callable[..., Any]:
        getattr(self.port, method)  # raises AttributeError for an unknown method
        return partial(self._call, method)

    def _call(self, method: str, /, *args: Any, **fields: Any) -> Any:
        ticket = args[0] if args else fields.get("ticket")
        held = self._held.get(ticket.run_id) if isinstance(ticket, RunTicket) else None
        if isinstance(ticket, RunTicket) and held is not None:
            return self._as_attempt(ticket, held, method, args, fields)
        return self._opened(getattr(self.port, method)(*args, **fields))

    def _as_attempt(
        self,
        ticket: RunTicket,
        held: _Held,
        method: str,
        args: tuple[Any, ...],
        fields: dict[str, Any],
    ) -> Any:
        try:
            answer = getattr(self._as_task(held), method)(*args, **fields)
        except BadToken:
            return getattr(self._asked_anew(ticket), method)(*args, **fields)
        if method == "heartbeat" and held.is_older(LIFETIME.total_seconds() / 2, self.clock()):
            with suppress(LakeGuardError):  # the next heartbeat tries again
                self._ask(self._as_task(held), ticket)
        return answer

    def _opened(self, answer: Any) -> Any:
        ticket = getattr(answer, "ticket", None)
        if isinstance(ticket, RunTicket):
            self._forget_old()
            self._ask(self.port, ticket)
        return answer

    def _asked_anew(self, ticket: RunTicket) -> RemotePort:
        """With a new task token. An attempt that is over calls as the worker, to get its error."""
        try:
            return self._as_task(self._ask(self.port, ticket))
        except Fenced:
            self._held.pop(ticket.run_id, None)
            return self.port

    def _ask(self, port: RemotePort, ticket: RunTicket) -> _Held:
        at = self.clock()
        held = _Held(port.task_token(ticket), at)
        self._held[ticket.run_id] = held
        return held

    def _as_task(self, held: _Held) -> RemotePort:
        return replace(self.port, token=held.token)

    def _forget_old(self) -> None:
        """Attempts that still run have renewed their tokens."""
        now = self.clock()
        for run_id, held in list(self._held.items()):
            if held.is_older(LIFETIME.total_seconds(), now):
                self._held.pop(run_id, None)
