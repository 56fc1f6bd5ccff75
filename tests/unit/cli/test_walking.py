"""Many runs: side by side, each in its turn, and all of them stopped by one Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from lakeguard.services import run_graph
from lakeguard.services.run_graph import Ended, Outcome, run_many
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import StateUnavailable
from lakeguard_sdk.model.run import RunResult
from tests.support.cases import models

A, B, C, D = (DatasetName(name) for name in ("bronze.a", "bronze.b", "silver.c", "gold.d"))
DIAMOND = {D: (C,), C: (A, B), B: (), A: ()}
WAIT = 20.0


def result(name: DatasetName, status: RunStatus = RunStatus.SUCCESS) -> RunResult:
    version = 1 if status is RunStatus.SUCCESS else None
    return models.result(status, version=version).model_copy(update={"dataset": name})


def outcomes(ended: list[Ended]) -> dict[str, str]:
    return {item.dataset: item.outcome for item in ended}


def test_parents_run_first_and_all_are_told_in_that_order() -> None:
    ran: list[DatasetName] = []

    def run(name: DatasetName) -> RunResult:
        ran.append(name)
        return result(name)

    ended = run_many(DIAMOND, run, jobs=1, stop=lambda: None)
    assert ran == [A, B, C, D]
    assert [item.dataset for item in ended] == [A, B, C, D]
    assert set(outcomes(ended).values()) == {Outcome.PROMOTED}


def test_a_block_stops_its_descendants_only() -> None:
    statuses = {C: RunStatus.BLOCKED}
    ended = run_many(
        {**DIAMOND, DatasetName("silver.other"): (A,)},
        lambda name: result(name, statuses.get(name, RunStatus.SUCCESS)),
        jobs=2,
        stop=lambda: None,
    )
    assert outcomes(ended) == {
        A: "PROMOTED",
        B: "PROMOTED",
        C: "BLOCKED",
        D: "NOT_RUN",
        "silver.other": "PROMOTED",
    }
    assert next(item for item in ended if item.dataset == D).waits_for == (C,)


def test_what_is_referred_to_runs_first_and_stops_nobody() -> None:
    ran: list[DatasetName] = []

    def run(name: DatasetName) -> RunResult:
        ran.append(name)
        return result(name, RunStatus.BLOCKED if name == B else RunStatus.SUCCESS)

    ended = run_many({A: (), B: (), C: (B,)}, run, jobs=1, stop=lambda: None, after={A: (C, B)})
    assert ran == [B, A]
    assert outcomes(ended) == {B: "BLOCKED", C: "NOT_RUN", A: "PROMOTED"}


def test_a_run_without_a_result_is_a_failure_of_its_dataset() -> None:
    def run(name: DatasetName) -> RunResult:
        if name == A:
            raise StateUnavailable(place="state.db", reason="locked")
        return result(name)

    ended = run_many(DIAMOND, run, jobs=2, stop=lambda: None)
    assert outcomes(ended) == {A: "FAILED", B: "PROMOTED", C: "NOT_RUN", D: "NOT_RUN"}
    assert ended[0].error is not None
    assert ended[0].error.code == "LG-6003"


def test_two_jobs_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2)

    def run(name: DatasetName) -> RunResult:
        meeting.wait(WAIT)
        return result(name)

    ended = run_many({A: (), B: ()}, run, jobs=2, stop=lambda: None)
    assert outcomes(ended) == {A: "PROMOTED", B: "PROMOTED"}


@pytest.mark.parametrize("by_thread", [False, True])
def test_ctrl_c_stops_every_run_before_it_is_raised(by_thread: bool) -> None:
    """Whichever thread the signal reaches."""
    meeting, stopped = threading.Barrier(2), threading.Event()
    over: list[DatasetName] = []

    def run(name: DatasetName) -> RunResult:
        last = meeting.wait(WAIT) == 0
        if last and by_thread:
            signal.raise_signal(signal.SIGINT)
        elif last:
            threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
        assert stopped.wait(WAIT)
        time.sleep(0.2)
        over.append(name)
        raise KeyboardInterrupt

    main = threading.main_thread().ident
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_many({A: (), B: (), C: (A, B)}, run, jobs=2, stop=stopped.set)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(over) == [A, B]


def test_a_run_that_does_not_heed_the_first_stop_is_stopped_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_graph, "_STOP_SECONDS", 0.05)
    stops, enough = list[float](), threading.Event()

    def stop() -> None:
        stops.append(time.monotonic())
        if len(stops) == 3:
            enough.set()

    def run(name: DatasetName) -> RunResult:
        signal.raise_signal(signal.SIGINT)
        assert enough.wait(WAIT)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_many({A: ()}, run, jobs=1, stop=stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(stops) >= 3
