"""Messages between processes: parsed or refused, never executed."""

from __future__ import annotations

import pickle
import socket
from pathlib import Path

import pytest

from lakeguard_sdk.errors import BuildFailed, Fenced, LakeGuardError, SparkTooOld, error_classes
from openlaketx.isolation import messages
from openlaketx.isolation.messages import (
    BadMessage,
    BuildError,
    DescribeOrder,
    Link,
    Staged,
    error_message,
    raised,
)
from tests.support.lakes.plans import parquet, plan, schema


def received(content: bytes) -> object:
    one, other = socket.socketpair()
    with one, other:
        one.sendall(content)
        one.shutdown(socket.SHUT_WR)
        return Link(other).receive()


def test_a_plan_arrives_as_it_was_sent(tmp_path: Path) -> None:
    order = DescribeOrder(plan=plan(tmp_path, parquet(), schema(n="long")), lake="/l", project="/p")
    one, other = socket.socketpair()
    with one, other:
        Link(one).send(order)
        assert Link(other).receive() == order


@pytest.mark.parametrize(
    "content",
    [
        b"\n",
        b"{}\n",
        b'{"kind":"unknown"}\n',
        b'{"kind":"staged","late":-1}\n',
        b'{"kind":"staged","rows":7}\n',
        b'{"kind":"staged"}',
        b"\xff\xfe\n",
        pickle.dumps({"kind": "staged"}) + b"\n",
    ],
)
def test_anything_else_is_refused(content: bytes) -> None:
    with pytest.raises(BadMessage):
        received(content)


def test_a_message_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "LARGEST", 40)
    assert received(b'{"kind":"staged"}\n') == Staged()
    with pytest.raises(BadMessage, match="too long"):
        received(b'{"kind":"staged","late":' + b" " * 40 + b"1}\n")


def test_the_end_is_no_message() -> None:
    assert received(b"") is None


@pytest.mark.parametrize(
    "error",
    [
        BuildFailed(dataset="silver.t", reason="jobs/t.py, line 3: no"),
        SparkTooOld(version="3.4", oldest="3.5", thing="a run"),
    ],
)
def test_an_error_is_raised_again_by_its_code(error: LakeGuardError) -> None:
    again = raised(error_message(error))
    assert type(again) is type(error)
    assert (str(again), again and again.next_step) == (str(error), error.next_step)


def test_other_errors_are_one_line_of_text() -> None:
    told = error_message(ValueError("one\ntwo"))
    assert (told.code, told.message) == ("LG-0000", "ValueError: one")
    assert raised(told) is None
    assert raised(BuildError(code="LG-5004", message="fields are missing")) is None
    assert raised(BuildError(code="LG-9999", message="no such code")) is None


def test_only_the_control_plane_says_that_a_lease_is_lost() -> None:
    fenced = Fenced(run="run_1", reason="another attempt runs")
    assert Fenced in set(error_classes())
    assert raised(error_message(fenced)) is None
