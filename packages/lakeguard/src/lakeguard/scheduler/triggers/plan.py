"""Launches what a trigger found and advances its cursors, atomically.

A plan is made twice: first without a lock, to see whether there is work, then under the trigger's
lock, so that two dispatchers do not launch the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.launch.launch import launch
from lakeguard.scheduler.launch.requests import LaunchRequest
from lakeguard.scheduler.triggers import queries
from lakeguard.state.locks import hold
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import data_hash
from lakeguard_sdk.scheduling.jobs import Launch
from lakeguard_sdk.storage.fault_points import reached

_LONGEST_KEY = 200


@dataclass
class Planned:
    """Launch requests, each with the job's new cursors by watched item."""

    requests: list[LaunchRequest] = field(default_factory=list)
    moves: list[dict[tuple[str, str], str]] = field(default_factory=list)

    def add(self, request: LaunchRequest, moves: dict[tuple[str, str], str]) -> None:
        self.requests.append(request)
        self.moves.append(moves)


def launch_planned(
    context: PlaneContext, name: str, plan: Callable[[Transaction], Planned]
) -> list[Launch]:
    """Outcomes of the requests. A cursor does not advance for a request without a task."""
    with context.read() as tx:
        if not plan(tx).requests:
            return []

    def work(tx: Transaction) -> list[Launch]:
        hold(tx, f"triggers:{tx.org_id}:{name}")
        planned = plan(tx)
        launches = launch(tx, context, planned.requests)
        reached("trigger.launched")
        launched_moves = zip(launches, planned.moves, strict=True)
        taken = [
            move for launched, moves in launched_moves if launched.task_id for move in moves.items()
        ]
        queries.set_cursors(tx, dict(taken))
        reached("trigger.moved")
        return launches

    launches = context.transact(work)
    reached("trigger.committed")
    return launches


def key_of(kind: str, text: str) -> str:
    """The task key: the cause of the launch, or its hash if long."""
    return f"{kind}:{text}" if len(text) <= _LONGEST_KEY else f"{kind}:{data_hash(text)}"
