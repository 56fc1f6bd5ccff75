"""Turn after turn: what is told, how a State that is away is asked again, and how it ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import click
import pytest

from lakeguard.cli.rendering.worker import TickPrinter, tick_lines
from lakeguard.services.dispatcher_loop import BACKOFF, DispatcherLoop, in_background
from lakeguard_sdk.errors import StateLoginRefused, StateUnavailable
from lakeguard_sdk.scheduling.jobs import Ticked

AWAY = StateUnavailable(place="postgresql://there", reason="it is gone")
SHUT = StateLoginRefused(place="postgresql://there", reason="password authentication failed")
BUSY = Ticked(scheduled=2, triggered=1_000, refused=1, problems=("files: no such place",))


class Turns:
    """A dispatcher whose turns are these; it is told to stop after the last."""

    def __init__(self, *turns: Ticked | Exception) -> None:
        self.left: Iterator[Ticked | Exception] = iter(turns)
        self.ticks: list[Ticked] = []
        self.warned: list[str] = []
        self.pauses: list[float] = []
        self.loop = DispatcherLoop(
            self.tick, self.ticks.append, self.warned.append, 5.0, wait=self.wait
        )
        self.number = len(turns)
        self.loop.run()

    def tick(self) -> Ticked:
        found = next(self.left)
        if isinstance(found, Exception):
            raise found
        return found

    def wait(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        if len(self.pauses) == self.number:
            self.loop.stopped.set()
        return True


def test_turns_come_at_even_pauses_until_it_is_told_to_stop() -> None:
    turns = Turns(BUSY, Ticked(), Ticked(retried=1))
    assert turns.pauses == [5.0] * 3
    assert [done.scheduled for done in turns.ticks] == [2, 0, 0]


def test_a_problem_is_told_once_until_it_changes() -> None:
    again, other = Ticked(problems=("a", "b")), Ticked(problems=("b", "c"))
    turns = Turns(again, again, other, Ticked(), again)
    assert [done.problems for done in turns.ticks] == [("a", "b"), (), ("c",), (), ("a", "b")]


@pytest.mark.parametrize("expected", [AWAY, SHUT])
def test_a_state_that_is_away_is_asked_more_and_more_seldom_and_found_again(
    expected: StateUnavailable,
) -> None:
    turns = Turns(*[expected] * 7, Ticked(), expected)
    assert turns.pauses == [1.0, 2.0, 4.0, 8.0, 16.0, BACKOFF.longest, 30.0, 5.0, 1.0]
    away = f"control plane unavailable, retrying: {expected}"
    assert turns.warned == [away, "control plane available again", away]


def test_what_nobody_foresaw_ends_it() -> None:
    with pytest.raises(ZeroDivisionError):
        Turns(ZeroDivisionError())


def test_work_beside_goes_on_after_a_failure_and_tells_it_once() -> None:
    done = threading.Semaphore(0)
    warned: list[str] = []
    outcomes = iter([AWAY, AWAY, None, AWAY, KeyError("job_1")])

    def work() -> None:
        outcome = next(outcomes, None)
        done.release()
        if outcome is not None:
            raise outcome

    with in_background(work, warned.append, seconds=0.001):
        for _ in range(7):
            assert done.acquire(timeout=10)
    assert warned == [str(AWAY), str(AWAY), "KeyError: 'job_1'"]


def test_a_turn_is_one_line_and_each_problem_another() -> None:
    lines = [click.unstyle(line) for line in tick_lines(BUSY)]
    assert lines == ["2 scheduled, 1,000 triggered, 1 refused", "! files: no such place"]
    assert tick_lines(Ticked()) == []


def test_what_cannot_be_shown_does_not_steer_the_terminal() -> None:
    (line,) = tick_lines(Ticked(problems=("files: \x1b[2Jgone",)))
    assert "\x1b[2J" not in line


def test_a_teller_says_nothing_of_an_idle_turn(capsys: pytest.CaptureFixture[str]) -> None:
    given: list[str] = []
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    person, program = (
        TickPrinter(as_json, given.append, lambda: moment) for as_json in (False, True)
    )
    for tell in (person, program):
        tell(Ticked())
    assert given == []
    assert capsys.readouterr().out == ""
    person(Ticked(dead=1))
    assert given == ["2026-01-01 00:00:00 UTC  1 dead"]
    program(BUSY)
    document = json.loads(capsys.readouterr().out)
    assert (document["at"], document["triggered"]) == ("2026-01-01T00:00:00+00:00", 1_000)


def test_a_file_that_comes_is_told_only_to_who_asked() -> None:
    reported: list[str] = []
    TickPrinter(as_json=False, note=reported.append)(Ticked(settling=2))
    assert reported == []
    assert tick_lines(Ticked(settling=1)) == ["1 new file, possibly still being written"]
    assert tick_lines(Ticked(settling=2)) == ["2 new files, possibly still being written"]


def test_two_turns_are_told_as_one() -> None:
    first = Ticked(scheduled=1, triggered=2, settling=3, problems=("files: it passed",))
    assert first.then(Ticked(triggered=1, settling=1)) == Ticked(
        scheduled=1, triggered=3, settling=1
    )
