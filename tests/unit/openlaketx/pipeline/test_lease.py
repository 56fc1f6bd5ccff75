"""A run holds its lease while it works, and stops when the lease is lost."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from lakeguard_sdk.errors import BadToken, Fenced, JobTimedOut, TableBusy
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.ports import Runs
from openlaketx.pipeline.lease import Limit, hold_lease

TICKET = RunTicket(run_id="run_1", task_id="task_1", attempt=1, lease_token="x")


class Beats:
    """Returns heartbeat results from a list; the last one repeats."""

    def __init__(self, *answers: float | Exception) -> None:
        self.answers = list(answers)
        self.count = 0
        self.enough = threading.Event()

    def heartbeat(self, ticket: RunTicket) -> float:
        assert ticket == TICKET
        self.count += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if self.count >= 4:
            self.enough.set()
        if isinstance(answer, Exception):
            raise answer
        return answer


def runs(beats: Beats) -> Runs:
    return cast(Runs, beats)


def test_it_beats_several_times_within_a_lease() -> None:
    beats = Beats(0.04)
    with hold_lease(runs(beats), TICKET, 0.04, lambda: None) as lease:
        assert beats.enough.wait(10)
        lease.check()
    seen = beats.count
    assert not threading.Event().wait(0.1)
    assert beats.count == seen


def test_a_lost_lease_stops_the_run() -> None:
    lost = threading.Event()
    beats = Beats(0.02, Fenced(run="run_1", reason="another attempt runs"))
    with hold_lease(runs(beats), TICKET, 0.02, lost.set) as lease:
        assert lost.wait(10)
        with pytest.raises(Fenced, match="another attempt"):
            lease.check()


def test_a_worker_that_is_let_in_no_more_stops_the_run() -> None:
    lost = threading.Event()
    beats = Beats(0.02, BadToken())
    with hold_lease(runs(beats), TICKET, 0.02, lost.set) as lease:
        assert lost.wait(10)
        with pytest.raises(BadToken):
            lease.check()


def test_a_run_that_lost_its_lease_is_stopped_until_it_has_stopped() -> None:
    stops = threading.Semaphore(0)
    beats = Beats(Fenced(run="run_1", reason="another attempt runs"))
    with hold_lease(runs(beats), TICKET, 0.02, stops.release):
        assert stops.acquire(timeout=10)
        assert stops.acquire(timeout=10)
    assert beats.count == 1


def test_a_plane_that_does_not_answer_for_a_moment_costs_nothing() -> None:
    beats = Beats(OSError("locked"), TableBusy(dataset="x", holder="y"), 0.02)
    with hold_lease(runs(beats), TICKET, 0.02, lambda: None) as lease:
        assert beats.enough.wait(10)
        lease.check()


def test_the_end_of_its_time_stops_the_run_although_it_keeps_its_lease() -> None:
    stopped = threading.Event()
    beats, limit = Beats(120.0), Limit(0.05, JobTimedOut(job="nightly", seconds=0.05))
    with hold_lease(runs(beats), TICKET, 120, stopped.set, limit=limit) as lease:
        lease.check()
        assert stopped.wait(10)
        with pytest.raises(JobTimedOut, match="timed out after"):
            lease.check()
