"""Stopping the runs of other threads."""

from __future__ import annotations

import pytest

from openlaketx.pipeline.stop_signal import StopSign, noticing_interrupts


def test_the_sign_pulls_the_brake_of_every_run_under_way() -> None:
    sign, pulled = StopSign(), list[str]()

    def broken() -> None:
        raise OSError("the engine is gone")

    with sign.heeded(broken), sign.heeded(lambda: pulled.append("b")):
        with sign.heeded(lambda: pulled.append("over")):
            pass
        sign.give()
    assert pulled == ["b"]


def test_a_run_that_comes_too_late_does_not_start() -> None:
    sign = StopSign()
    sign.check()
    sign.give()
    with pytest.raises(KeyboardInterrupt), sign.heeded(lambda: None):
        pytest.fail("it ran")
    with pytest.raises(KeyboardInterrupt):
        sign.check()


def test_a_run_notices_the_sign_like_a_signal() -> None:
    sign = StopSign()
    with noticing_interrupts(sign) as interrupted:
        assert not interrupted()
        sign.give()
        assert interrupted()
