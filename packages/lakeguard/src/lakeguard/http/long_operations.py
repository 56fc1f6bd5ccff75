"""Long operations: a bounded number runs in this process, and clients poll their state.

They end with the process, and are unknown after a restart. Their writes are transactions of their
own, so that the call can be repeated.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from lakeguard.access.principal import Principal
from lakeguard_sdk.api.operation_state import OperationState, OperationStatus
from lakeguard_sdk.api.problems import Problem
from lakeguard_sdk.errors import ServiceBusy, UnknownOperation

MOST_RUNNING = 2
MOST_WAITING = 16
MOST_KEPT = 200
"""Ended operations whose state is still available."""
MOST_LINES = 10_000
FIRST_WAIT = 0.5
"""Seconds that the first answer waits: most operations have ended by then."""
PROGRESS_SECONDS = 0.5
"""How long lines of progress are collected before a poll returns."""
_POLL_SECONDS = 0.02

Progress = Callable[[str], None]


@dataclass
class _Operation:
    operation_id: str
    name: str
    owner: tuple[str, str]
    started_at: datetime
    status: OperationStatus = OperationStatus.RUNNING
    ended_at: datetime | None = None
    lines: list[str] = field(default_factory=list)
    result: Any = None
    problem: Problem | None = None

    def note(self, line: str) -> None:
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)

    def state(self, after: int) -> OperationState:
        status = self.status  # read first, because result and problem are written before it
        return OperationState(
            operation_id=self.operation_id,
            operation=self.name,
            status=status,
            started_at=self.started_at,
            ended_at=self.ended_at,
            progress=tuple(self.lines[after:]),
            lines=len(self.lines),
            result=self.result,
            problem=self.problem,
        )


class LongOperations:
    """Of one service."""

    def __init__(self, describe: Callable[[Exception], Problem]) -> None:
        self._describe = describe
        self._executor = ThreadPoolExecutor(MOST_RUNNING, thread_name_prefix="operation")
        self._known: OrderedDict[str, _Operation] = OrderedDict()
        self._lock = Lock()

    def start(self, name: str, principal: Principal, work: Callable[[Progress], Any]) -> str:
        """Returns the id of the operation. Raises ``ServiceBusy`` if too many wait."""
        operation = _Operation(f"op_{uuid.uuid4().hex}", name, _owner(principal), datetime.now(UTC))
        with self._lock:
            unfinished = sum(each.ended_at is None for each in self._known.values())
            if unfinished >= MOST_RUNNING + MOST_WAITING:
                raise ServiceBusy(reason=f"{unfinished} operations are running or waiting")
            self._known[operation.operation_id] = operation
            self._forget()
        self._executor.submit(self._run, operation, work)
        return operation.operation_id

    def _forget(self) -> None:
        ended = [key for key, each in self._known.items() if each.ended_at is not None]
        for key in ended[: max(0, len(ended) - MOST_KEPT)]:
            del self._known[key]

    def _run(self, operation: _Operation, work: Callable[[Progress], Any]) -> None:
        try:
            operation.result = work(operation.note)
        except Exception as error:  # noqa: BLE001 - clients that poll get the problem
            operation.problem = self._describe(error)
        failed = operation.problem is not None
        operation.ended_at = datetime.now(UTC)
        operation.status = OperationStatus.FAILED if failed else OperationStatus.DONE

    async def state(
        self, operation_id: str, principal: Principal, *, after: int = 0, wait: float = 0.0
    ) -> OperationState:
        """After at most ``wait`` seconds, or as soon as it ended or there are new lines."""
        operation = self._known.get(operation_id)
        if operation is None or operation.owner != _owner(principal):
            raise UnknownOperation(operation=operation_id)
        began = time.monotonic()
        while operation.status is OperationStatus.RUNNING:
            waited = time.monotonic() - began
            shown = len(operation.lines) > after and waited >= PROGRESS_SECONDS
            if shown or waited >= wait:
                break
            await asyncio.sleep(_POLL_SECONDS)
        return operation.state(after)

    def close(self) -> None:
        """Waits for running operations; waiting ones are cancelled."""
        self._executor.shutdown(cancel_futures=True)


def _owner(principal: Principal) -> tuple[str, str]:
    return principal.org_id, principal.name
