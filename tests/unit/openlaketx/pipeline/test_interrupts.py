"""The stop signal ends runs in other threads."""

from __future__ import annotations

import pytest

from openlaketx.pipeline.stop_signal import StopSignal, detect_interrupts


def test_the_stop_signal_cancels_every_active_run() -> None:
    stop, cancelled = StopSignal(), list[str]()

    def broken() -> None:
        raise OSError("the engine is gone")

    with stop.listening(broken), stop.listening(lambda: cancelled.append("b")):
        with stop.listening(lambda: cancelled.append("over")):
            pass
        stop.set()
    assert cancelled == ["b"]


def test_a_run_that_comes_too_late_does_not_start() -> None:
    stop = StopSignal()
    stop.check()
    stop.set()
    with pytest.raises(KeyboardInterrupt), stop.listening(lambda: None):
        pytest.fail("it ran")
    with pytest.raises(KeyboardInterrupt):
        stop.check()


def test_a_run_detects_the_stop_signal_like_sigint() -> None:
    stop = StopSignal()
    with detect_interrupts(stop) as interrupted:
        assert not interrupted()
        stop.set()
        assert interrupted()
