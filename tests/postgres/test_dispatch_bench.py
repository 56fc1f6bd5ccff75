"""The benchmark of the dispatcher, small: every queue completes all its tasks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.dispatch.benchmark import LEAST, QUEUES, race_figures
from bench.dispatch.claims import claim_figures
from bench.dispatch.held import held_figures
from bench.dispatch.python_jobs import python_job_figures
from bench.dispatch.schedules import schedule_figures
from bench.dispatch.through_worker import worker_figures
from tests.support.databases.databases import Server


@pytest.fixture(scope="module")
def durable() -> Iterator[Server]:
    server = Server(durable=True)
    server.start()
    yield server
    server.remove()


def test_the_server_is_as_durable_as_one_is_by_default(durable: Server) -> None:
    names = ("fsync", "synchronous_commit", "full_page_writes")
    assert [durable.sql(f"SHOW {name}") for name in names] == [[("on",)]] * 3


def test_every_queue_completes_all_its_tasks(durable: Server) -> None:
    """And says beside its figure what it guarantees."""
    *figures, ahead = race_figures(durable, workers=(1,), tasks=8, rounds=1)
    assert [figure.figure.partition(",")[0] for figure in figures] == [
        queue.name for queue in QUEUES
    ]
    assert [figure.bar for figure in figures] == [LEAST.get(queue) for queue in QUEUES]
    assert ahead.value == pytest.approx(figures[1].value / figures[2].value)
    for figure in figures:
        assert figure.value > 0
        for term in ("fencing", "history", "again", "audit", "retries"):
            assert f"{term}: " in figure.note


def test_the_loop_of_a_worker_completes_all_its_tasks(durable: Server) -> None:
    one, two = worker_figures(durable, processes=(1, 2), tasks=12, rounds=1)
    assert (one.value > 0, one.bar, two.value > 0, two.bar) == (True, 500.0, True, None)


def test_python_jobs_run_through_a_worker(durable: Server) -> None:
    bare, through, *ratios = python_job_figures(durable, jobs=2, rounds=1)
    assert [ratio.value for ratio in ratios] == [pytest.approx(through.value / bare.value)] * 2
    assert 0.8 in [ratio.bar for ratio in ratios]


def test_a_session_that_holds_tasks_keeps_nobody_from_others(durable: Server) -> None:
    (ratio,) = held_figures(durable, workers=1, tasks=4, rounds=1)
    assert ratio.value > 0
    assert (ratio.bar, ratio.least) == (0.6, True)


def test_claims_and_schedules(durable: Server) -> None:
    short, long, ratio = claim_figures(durable, short=10, long=30, claims=4)
    assert ratio.value == pytest.approx(long.value / short.value)
    wall, cpu = schedule_figures(durable, jobs=20, rounds=1)
    assert (wall.bar, cpu.bar) == (1.0, None)
