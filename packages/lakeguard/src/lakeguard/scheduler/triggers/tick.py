"""One tick of every loop. A failing loop is reported and does not stop the others.

definitions ──► schedules ──► updates ──► files ──► after ──► ends of the dead ──► retries ...
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.triggers.after import launch_following
from lakeguard.scheduler.triggers.cron import follow_definitions, launch_due
from lakeguard.scheduler.triggers.dataset_updates import launch_updated
from lakeguard.scheduler.triggers.file_watch import FileWatch
from lakeguard.scheduler.triggers.files import launch_arrived
from lakeguard.scheduler.triggers.triggerable_jobs import Roster, read_roster
from lakeguard.state.clock import CLOCK_SLACK
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.error_lines import error_line
from lakeguard_sdk.errors import LakeGuardError, StateUnavailable
from lakeguard_sdk.scheduling.jobs import Launch, Ticked

_log = logging.getLogger(__name__)
Loop = tuple[str, Callable[[], Ticked]]
"""A loop's name, for messages, and its tick function."""


@dataclass
class Watch:
    """A dispatcher's memory across ticks; all of it can be rebuilt."""

    roster: Roster | None = None
    followed: Roster | None = None
    """Jobs as of the last schedule update."""
    ticked_at: datetime | None = None
    """The clock at the last tick; it may go back."""
    file_watch: FileWatch = field(default_factory=FileWatch)
    failing: dict[str, str] = field(default_factory=dict)
    """The last failure per loop, so that it is logged once."""


def tick(context: PlaneContext, watch: Watch, others: Sequence[Loop] = ()) -> Ticked:
    """One tick: launch what is due, then run the ``others``.

    Raises only StateUnavailable, if the State cannot be reached at all.
    """
    read = _definitions(context, watch)
    loops = () if watch.roster is None else _loops(context, watch, watch.roster)
    turns = [_guarded(watch, name, turn) for name, turn in (*loops, *others)]
    return _together([read, *turns, Ticked(problems=tuple(_left_alone(watch.roster)))])


def _definitions(context: PlaneContext, watch: Watch) -> Ticked:
    """If jobs cannot be read, the last ones are kept."""

    def read() -> Ticked:
        with context.read() as tx:
            watch.roster = read_roster(tx, watch.roster)
        return Ticked()

    return _guarded(watch, "definitions", read, but=StateUnavailable)


def _loops(context: PlaneContext, watch: Watch, roster: Roster) -> Iterator[Loop]:
    yield "schedules", lambda: _scheduled(context, watch, roster)
    yield "updates", lambda: _triggered(launch_updated(context, roster))
    yield "files", lambda: _arrived(context, watch, roster)
    yield "after", lambda: _triggered(launch_following(context, roster))


def _scheduled(context: PlaneContext, watch: Watch, roster: Roster) -> Ticked:
    now, warnings = context.clock(), list[str]()
    went_back = watch.ticked_at is not None and now < watch.ticked_at - CLOCK_SLACK
    if watch.followed is not roster or went_back:
        warnings = follow_definitions(context, roster)
        watch.followed = roster
    watch.ticked_at = now
    turn = launch_due(context, roster)
    if turn.strange:
        watch.followed = None
    count = _triggered(turn.launches)
    return Ticked(
        scheduled=count.triggered, refused=count.refused, problems=(*warnings, *turn.warnings)
    )


def _arrived(context: PlaneContext, watch: Watch, roster: Roster) -> Ticked:
    turn = launch_arrived(context, roster, watch.file_watch)
    return _triggered(turn.launches).model_copy(update={"settling": turn.settling})


def _triggered(launches: Sequence[Launch]) -> Ticked:
    new = [launch for launch in launches if launch.new]
    refused = sum(launch.state is TaskState.BLOCKED for launch in new)
    return Ticked(triggered=len(new) - refused, refused=refused)


def _guarded(
    watch: Watch, name: str, turn: Callable[[], Ticked], but: type[Exception] | tuple[()] = ()
) -> Ticked:
    try:
        done = turn()
    except but:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the other loops have their turn
        message = error_line(error)
        if not isinstance(error, LakeGuardError) and watch.failing.get(name) != message:
            _log.error("the loop %s failed", name, exc_info=error)
        watch.failing[name] = message
        return Ticked(problems=(f"{name}: {message}",))
    watch.failing.pop(name, None)
    return done


def _together(turns: Sequence[Ticked]) -> Ticked:
    fields: dict[str, Any] = {
        name: sum(getattr(turn, name) for turn in turns)
        for name in Ticked.model_fields
        if name != "problems"
    }
    return Ticked(problems=tuple(problem for turn in turns for problem in turn.problems), **fields)


def _left_alone(roster: Roster | None) -> Iterator[str]:
    """Triggered jobs that will not start, with the reason."""
    if roster is not None and roster.undeployed:
        names = _some(roster.undeployed)
        problem = "not in the active graph as they are now, so nothing starts them"
        yield f"{problem}: {names}. Next: lakeguard deploy"
    if roster is not None and roster.strange:
        names = _some(roster.strange)
        yield f"of a type that nothing here runs: {names}. Next: lakeguard validate"
    if roster is not None and roster.wrong:
        names = _some(roster.wrong)
        yield f"with wrong settings, so nothing of them runs: {names}. Next: lakeguard validate"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
