"""Launching what a trigger found, and moving on from it: both in one transaction, or neither.

A plan is made of facts alone. It is made once to see whether there is anything to do, and once
more by whoever then holds the trigger, so that two dispatchers do not take the same for new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.launch.launch import launch
from lakeguard.scheduler.launch.requests import Wish
from lakeguard.scheduler.triggers import queries
from lakeguard.state.locks import hold
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import data_hash
from lakeguard_sdk.scheduling.jobs import Launch
from lakeguard_sdk.storage.fault_points import reached

_LONGEST_KEY = 200


@dataclass
class Planned:
    """What to launch, each with the places of its job after that, by job and what it watches."""

    wishes: list[Wish] = field(default_factory=list)
    moves: list[dict[tuple[str, str], str]] = field(default_factory=list)

    def add(self, wish: Wish, moves: dict[tuple[str, str], str]) -> None:
        self.wishes.append(wish)
        self.moves.append(moves)


def launch_planned(
    context: PlaneContext, name: str, plan: Callable[[Transaction], Planned]
) -> list[Launch]:
    """What became of the plan's wishes. A job stays where it was with what left no task."""
    with context.read() as tx:
        if not plan(tx).wishes:
            return []

    def work(tx: Transaction) -> list[Launch]:
        hold(tx, f"triggers:{tx.org_id}:{name}")
        planned = plan(tx)
        launches = launch(tx, context, planned.wishes)
        reached("trigger.launched")
        kept = zip(launches, planned.moves, strict=True)
        taken = [move for launched, moves in kept if launched.task_id for move in moves.items()]
        queries.set_cursors(tx, dict(taken))
        reached("trigger.moved")
        return launches

    launches = context.transact(work)
    reached("trigger.committed")
    return launches


def key_of(kind: str, text: str) -> str:
    """A task's key: what it was launched for, or the hash of that where it is long."""
    return f"{kind}:{text}" if len(text) <= _LONGEST_KEY else f"{kind}:{data_hash(text)}"
