"""A batch that another process builds: what is believed of it, and how it can fail."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BuildFailed, BuildProcessEnded, NoteRefused
from lakeguard_sdk.model.evidence import InputVersion, SourceFile, SourcePosition
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import PythonBuild, RunPlan, SchemaVerdict
from openlaketx.isolation import remote_builder
from openlaketx.isolation.build_process import build_environment
from openlaketx.isolation.messages import (
    BatchFacts,
    BuildError,
    BuildInterrupted,
    Described,
    DescribeOrder,
    Link,
    Message,
    SourceFilesFound,
    SourceFilesOrder,
    Staged,
)
from openlaketx.isolation.remote_builder import RemoteBuilder
from tests.support.fakes.source_history import SourceHistory
from tests.support.lakes.plans import csv, plan, schema

COLUMNS = schema(n="long")
FACTS = BatchFacts(live=COLUMNS)


@pytest.fixture
def python_plan(tmp_path: Path) -> RunPlan:
    build = PythonBuild(file="jobs/t.py", function="build", sha256="0", inputs={})
    made = plan(tmp_path, build, COLUMNS)
    return made.model_copy(update={"settings": {"measure_with": "duckdb"}})


@contextmanager
def answering(answer: Callable[[Link, Message], None], **more: Any) -> Iterator[RemoteBuilder]:
    """A builder whose other side answers every order by calling ``answer``."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        link = Link(theirs)
        while (order := link.receive()) is not None:
            answer(link, order)
        link.close()

    thread = threading.Thread(target=serve)
    thread.start()
    with RemoteBuilder(
        Link(ours), lake="/l", project="/p", ending=lambda: "is gone", **more
    ) as builder:
        yield builder
    thread.join(10)


def test_what_the_process_says_of_inputs_rows_and_positions_is_not_believed(
    python_plan: RunPlan,
) -> None:
    orders: list[Message] = []
    forged = InputVersion(dataset="silver.other", dataset_id="1", version=7)
    facts = BatchFacts(
        live=COLUMNS,
        inputs=(forged,),
        position=SourcePosition(watermark="9"),
        rejected=4,
        ordered=True,
    )

    def answer(link: Link, order: Message) -> None:
        orders.append(order)
        link.send(Described(facts=facts))

    with answering(answer) as builder:
        unknown = BatchLineage(columns=())
        expected = BatchFacts(live=COLUMNS, ordered=True, lineage=unknown)
        assert builder.describe(python_plan) == expected
    (order,) = orders
    assert isinstance(order, DescribeOrder)
    assert order.plan.ticket.lease_token == ""
    assert (order.plan.settings, order.plan.measures) == ({}, ())


def test_a_build_asks_for_files_that_were_read_before(tmp_path: Path) -> None:
    """Those of the base version of its own run, in the middle of its answer."""
    files = tuple(SourceFile(path=f"in/{n}.csv", size=1, modified_ms=1) for n in range(5))
    read = SourceHistory(SourcePosition(files=files))
    build = csv().model_copy(update={"position": read.position})
    found: list[SourceFile] = []

    def answer(link: Link, order: Message) -> None:
        if isinstance(order, DescribeOrder):
            link.send(SourceFilesOrder(keys=("in/1.csv", "in/9.csv")))
        elif isinstance(order, SourceFilesFound) and not found:
            found.extend(order.files)
            link.send(SourceFilesOrder(after="in/3.csv"))
        elif isinstance(order, SourceFilesFound):
            found.extend(order.files)
            link.send(Described(facts=FACTS))

    with answering(answer, reader=read) as builder:
        builder.describe(plan(tmp_path, build, COLUMNS, load=LoadType.APPEND))
    assert [file.path for file in found] == ["in/1.csv", "in/4.csv"]


def test_notes_are_checked_again(python_plan: RunPlan) -> None:
    notes = {"password": "a real one"}
    told = Described(facts=FACTS.model_copy(update={"notes": notes}))
    with answering(lambda link, order: link.send(told)) as builder, pytest.raises(NoteRefused):
        builder.describe(python_plan)


def test_files_are_looked_for_whatever_the_process_says(python_plan: RunPlan) -> None:
    verdict = SchemaVerdict(accepted=True, differences=())
    with (
        answering(lambda link, order: link.send(Staged(late=5))) as builder,
        pytest.raises(Exception, match="the write has no success marker"),
    ):
        builder.stage(python_plan, verdict)


def close(link: Link, order: Message) -> None:
    link.close()


def talk_nonsense(link: Link, order: Message) -> None:
    link._end.sendall(b'{"kind":"staged","rows":1}\n')


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (close, "is gone"),
        (talk_nonsense, "a message is invalid"),
        (lambda link, order: link.send(Staged()), "answered describe with staged"),
    ],
)
def test_no_valid_answer_fails_the_run(
    python_plan: RunPlan, answer: Callable[[Link, Message], None], expected: str
) -> None:
    with (
        answering(answer) as builder,
        pytest.raises(BuildProcessEnded, match=expected),
    ):
        builder.describe(python_plan)


def test_errors_of_the_build_are_raised_here(python_plan: RunPlan) -> None:
    told = BuildError(
        code="LG-4003", message="fenced, it claims", fields={"run": "r", "reason": "x"}
    )
    with (
        answering(lambda link, order: link.send(told)) as builder,
        pytest.raises(BuildFailed, match="fenced, it claims"),
    ):
        builder.describe(python_plan)


def test_an_interrupt_is_passed_on(python_plan: RunPlan) -> None:
    stopped = threading.Event()
    with (
        answering(
            lambda link, order: link.send(BuildInterrupted()), interrupted=stopped.set
        ) as builder,
        pytest.raises(KeyboardInterrupt),
    ):
        builder.describe(python_plan)
    assert stopped.is_set()


def test_a_build_that_does_not_stop_is_abandoned(
    python_plan: RunPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_builder, "STOP_SECONDS", 0.1)
    abandoned = threading.Event()
    with answering(lambda link, order: None, abandon=abandoned.set) as builder:
        builder.cancel()
        with pytest.raises(BuildProcessEnded, match="did not stop within"):
            builder.describe(python_plan)
    assert abandoned.is_set()


def test_a_build_gets_no_credentials_from_the_environment() -> None:
    given = {"PATH": "/bin", "PGPASSWORD": "x", "LAKEGUARD_ENV": "prod", "AWS_SECRET": "y"}
    assert build_environment({**given, "SPARK_LOCAL_DIRS": "/t", "LC_ALL": "C"}) == {
        "PATH": "/bin",
        "SPARK_LOCAL_DIRS": "/t",
        "LC_ALL": "C",
    }
