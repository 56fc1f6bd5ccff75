"""One turn of every loop. A loop that fails is told of, and stops no other.

definitions ──► schedules ──► updates ──► files ──► after ──► retries ──► ends of the dead ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakeguard.promotion.heart import Heart
from lakeguard.triggers.files import Looking, launch_arrived
from lakeguard.triggers.following import launch_following
from lakeguard.triggers.roster import Roster, read_roster
from lakeguard.triggers.schedules import follow_definitions, launch_due
from lakeguard.triggers.updates import launch_updated
from lakeguard_sdk.job import Launch, Ticked
from lakeguard_sdk.words import TaskState

Loop = tuple[str, Callable[[], Ticked]]
"""A loop's name, for what is told of it, and its turn."""


@dataclass
class Watch:
    """What a dispatcher remembers from turn to turn. All of it can be found out again."""

    roster: Roster | None = None
    followed: Roster | None = None
    """The jobs whose definitions the schedules follow."""
    looking: Looking = field(default_factory=Looking)


def tick(heart: Heart, watch: Watch, others: Sequence[Loop] = ()) -> Ticked:
    """One turn: what is due is launched, then the ``others`` have theirs.

    StateUnavailable, and nothing else, where the State cannot be asked at all.
    """
    with heart.database.read() as connection:
        roster = watch.roster = read_roster(connection, heart.org_id, watch.roster)
    turns = [_guarded(name, turn) for name, turn in (*_loops(heart, watch, roster), *others)]
    if roster.undeployed:
        turns.append(Ticked(problems=(_undeployed(roster.undeployed),)))
    return _together(turns)


def _loops(heart: Heart, watch: Watch, roster: Roster) -> Iterator[Loop]:
    yield "schedules", lambda: _scheduled(heart, watch, roster)
    yield "updates", lambda: _triggered(launch_updated(heart, roster))
    yield "files", lambda: _triggered(launch_arrived(heart, roster, watch.looking))
    yield "after", lambda: _triggered(launch_following(heart, roster))


def _scheduled(heart: Heart, watch: Watch, roster: Roster) -> Ticked:
    if watch.followed is not roster:
        follow_definitions(heart, roster)
        watch.followed = roster
    turn = launch_due(heart, roster)
    if turn.strange:
        watch.followed = None
    count = _triggered(turn.launches)
    return Ticked(scheduled=count.triggered, refused=count.refused, problems=tuple(turn.told))


def _triggered(launches: Sequence[Launch]) -> Ticked:
    new = [launch for launch in launches if launch.new]
    refused = sum(launch.state is TaskState.BLOCKED for launch in new)
    return Ticked(triggered=len(new) - refused, refused=refused)


def _guarded(name: str, turn: Callable[[], Ticked]) -> Ticked:
    try:
        return turn()
    except Exception as error:  # noqa: BLE001 - whatever it is, the other loops have their turn
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        return Ticked(problems=(f"{name}: {said}",))


def _together(turns: Sequence[Ticked]) -> Ticked:
    fields: dict[str, Any] = {
        name: sum(getattr(turn, name) for turn in turns)
        for name in Ticked.model_fields
        if name != "problems"
    }
    return Ticked(problems=tuple(said for turn in turns for said in turn.problems), **fields)


def _undeployed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    return f"not in the active graph, so nothing starts them: {shown}. Next: lakeguard deploy"
