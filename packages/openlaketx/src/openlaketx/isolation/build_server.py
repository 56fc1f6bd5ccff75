"""The side of the user's code: describes and stages the batch of a run for another process."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lakeguard_sdk.errors import SparkExited
from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import register_store
from lakeguard_sdk.storage.store_options import StoreOptions
from openlaketx.engine.spark.runtime import runtime_of
from openlaketx.engine.spark.session import Sessions, engine_ended, scoped_run_session
from openlaketx.extract import ProgramFrame
from openlaketx.isolation.batch_builder import LocalBuilder
from openlaketx.isolation.messages import (
    BadMessage,
    BuildInterrupted,
    CancelOrder,
    Described,
    DescribeOrder,
    Link,
    Message,
    PlaceOrder,
    RunEnded,
    RunWarning,
    SourceFilesFound,
    SourceFilesOrder,
    Staged,
    StageOrder,
    error_message,
)
from openlaketx.loads import StagedBatch
from openlaketx.stage.run_staging import shared_staging

_LOG = logging.getLogger("openlaketx")
_WAIT_SECONDS = 0.5
"""Between two looks for Ctrl-C."""


@dataclass(frozen=True)
class AskedFiles:
    """Asks the gate for source files that the base version of the run has read."""

    ask: Callable[[SourceFilesOrder], SourceFilesFound]

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]:
        return self.ask(SourceFilesOrder(keys=tuple(keys))).files

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]:
        return self.ask(SourceFilesOrder(after=after)).files


class BuildServer:
    """Serves the orders of one run, in the thread that calls ``serve``."""

    def __init__(
        self,
        link: Link,
        sessions: Sessions,
        frame: ProgramFrame | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._link = link
        self._sessions = sessions
        self._frame = frame
        self._interrupted = interrupted
        self._orders: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._cancel: Callable[[], None] | None = None
        self._plan: RunPlan | None = None
        self._builder: LocalBuilder | None = None
        self._staged: StagedBatch | None = None

    def serve(self) -> RunEnded | None:
        """How the run ended; None if the other process is gone, or Ctrl-C was typed twice.

        The other process is told of an error or Ctrl-C, and ends the run.
        """
        threading.Thread(target=self._receive, name="orders", daemon=True).start()
        try:
            with ExitStack() as stack:
                return self._serve(stack)
        except KeyboardInterrupt:
            self._send(BuildInterrupted())
        except Exception as error:  # noqa: BLE001 - every error is reported
            stopped = self._interrupted()
            self._send(BuildInterrupted() if stopped else error_message(self._explained(error)))
        try:
            while (order := self._next()) is not None and not isinstance(order, RunEnded):
                pass
        except KeyboardInterrupt:
            return None
        return order

    def _serve(self, stack: ExitStack) -> RunEnded | None:
        while (order := self._next()) is not None:
            if isinstance(order, RunEnded):
                return order
            if isinstance(order, RunWarning):
                _LOG.warning("%s", order.text)
                continue
            self._send(self._answer(order, stack))
        return None

    def _next(self) -> Message | None:
        while True:
            try:
                return self._orders.get(timeout=_WAIT_SECONDS)
            except queue.Empty:
                continue

    def _answer(self, order: Message, stack: ExitStack) -> Message:
        match order:
            case DescribeOrder(plan=plan) if self._builder is None:
                self._plan = plan
                if order.store is not None:
                    register_store(order.store.location, StoreOptions.of(order.store))
                stack.enter_context(shared_staging(order.staging, plan.ticket.run_id))
                session = self._open(plan.ticket.run_id, stack)
                known = AskedFiles(self._asked)
                self._builder = LocalBuilder(
                    lambda: session, order.lake, order.project, self._frame, known
                )
                return Described(facts=self._builder.describe(plan))
            case StageOrder() if self._builder is not None and self._staged is None:
                self._plan = order.plan
                self._staged = self._builder.stage(order.plan, order.verdict)
                return Staged(late=self._staged.late)
            case PlaceOrder() if self._staged is not None and self._staged.placed is not None:
                self._staged.placed()
                return Staged()
        raise BadMessage(f"{order.kind} is not expected now")

    def _asked(self, order: SourceFilesOrder) -> SourceFilesFound:
        """Asks the gate while it waits for the answer to its own order."""
        self._send(order)
        answer = self._next()
        if isinstance(answer, SourceFilesFound):
            return answer
        raise BadMessage("expected the source files that were read before")

    def _open(self, run_id: str, stack: ExitStack) -> SparkSession:
        """A session for this run only, whose jobs ``cancel`` stops."""
        spark = self._sessions()
        runtime = runtime_of(spark)
        session = stack.enter_context(scoped_run_session(spark))
        stack.enter_context(runtime.job_group(session, run_id))
        self._cancel = lambda: runtime.stop_group(session, run_id)
        stack.callback(self._forget)
        return session

    def _forget(self) -> None:
        self._cancel = None

    def _explained(self, error: Exception) -> Exception:
        reason = engine_ended()
        if reason is None or self._plan is None:
            return error
        return SparkExited(dataset=self._plan.dataset, reason=reason)

    def _receive(self) -> None:
        try:
            while (order := self._link.receive()) is not None:
                if isinstance(order, CancelOrder):
                    self._stop()
                else:
                    self._orders.put(order)
        except BadMessage:
            pass
        finally:
            self._stop()
            self._orders.put(None)

    def _stop(self) -> None:
        cancel = self._cancel
        if cancel is not None:
            with suppress(Exception):  # jobs that cannot be cancelled end by themselves
                cancel()

    def _send(self, answer: Message) -> None:
        with suppress(OSError):  # the end of its messages says that the other process is gone
            self._link.send(answer)
