"""Permissions of a run: it may read, and report on itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, NoReturn

from lakeguard_sdk.errors import NotPermitted
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.ports import Runs

if TYPE_CHECKING:
    from lakeguard_sdk.scheduling.tasks import Dispatch, TaskAnswer, TaskReport


@dataclass(frozen=True)
class Refusing:
    """A port whose methods all refuse."""

    holder: str
    port: str

    def __getattr__(self, method: str) -> Callable[..., NoReturn]:
        def refuse(*_args: object, **_fields: object) -> NoReturn:
            raise NotPermitted(holder=self.holder, method=f"{self.port}.{method}")

        return refuse


_OF_A_TICKET = frozenset(
    name
    for name, method in vars(Runs).items()
    if not name.startswith("_") and list(signature(method).parameters)[1:2] == ["ticket"]
)
"""Methods of the run port that take a ticket."""


def may_run_call(method: str) -> bool:
    """Whether a run may call the method of the run port, with its own ticket."""
    return method in _OF_A_TICKET


@dataclass(frozen=True)
class OwnRun:
    """The run port for one ticket; other tickets and methods without a ticket are refused."""

    runs: Runs
    own: RunTicket

    def __getattr__(self, method: str) -> Callable[..., Any]:
        holder = f"run {self.own.run_id}"
        if method not in _OF_A_TICKET:
            return Refusing(holder, "runs").__getattr__(method)

        def call(ticket: RunTicket, *args: object, **fields: object) -> Any:
            if ticket != self.own:
                raise NotPermitted(holder=holder, method=f"runs.{method} of another")
            return getattr(self.runs, method)(ticket, *args, **fields)

        return call


@dataclass(frozen=True)
class OwnTask:
    """The dispatch port for one ticket, which may report, renew its lease and hand over."""

    dispatch: Dispatch
    own: RunTicket

    def __getattr__(self, method: str) -> Callable[..., NoReturn]:
        return Refusing(f"run {self.own.run_id}", "dispatch").__getattr__(method)

    def check(self) -> None:
        self.dispatch.check()

    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer:
        return self.dispatch.report(self._owned(ticket, "report"), report)

    def keep(self, tickets: Sequence[RunTicket]) -> Mapping[str, float]:
        return self.dispatch.keep([self._owned(ticket, "keep") for ticket in tickets])

    def hand_over(self, ticket: RunTicket) -> None:
        self.dispatch.hand_over(self._owned(ticket, "hand_over"))

    def _owned(self, ticket: RunTicket, method: str) -> RunTicket:
        if ticket != self.own:
            holder = f"run {self.own.run_id}"
            raise NotPermitted(holder=holder, method=f"dispatch.{method} of another")
        return ticket
