"""Worker: runs tasks on one warm Spark session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import Fenced, Interrupted, JobTimedOut, SparkExited, WorkerStopped
from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.model.history import RebuildPlan, Rebuilt
from lakeguard_sdk.model.run import RunPlan, RunResult, RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.pipeline.failures import failure_of, full_disk
from openlaketx.pipeline.lease import JobCanceller, Limit, hold_lease
from openlaketx.pipeline.stop_signal import StopSignal, detect_interrupts
from openlaketx.run import collecting_notes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from openlaketx.extract import ProgramFrame


def create_worker(
    client: WorkerClient,
    *,
    spark_options: dict[str, str],
    progress: Progress | None = None,
) -> SparkWorker:
    """The worker of this process. Spark starts with the first task that needs it."""

    def session() -> SparkSession:
        from openlaketx.engine.spark.session import spark_session

        return spark_session(spark_options)

    return SparkWorker(client, session, progress)


class SparkWorker:
    """Every run it opens ends with a result, or is ended by the reaper after its lease expires.

    Threads may run tasks concurrently on the one session.
    """

    def __init__(
        self,
        client: WorkerClient,
        session: Callable[[], SparkSession],
        progress: Progress | None = None,
    ) -> None:
        self._client = client
        self._session = session
        self._progress = progress
        self._identity = this_process("openlaketx")
        self._stop_signal = StopSignal()

    def run_task(self, task_id: str, frame: ProgramFrame | None = None) -> RunResult:
        """Open and run the task's next attempt; the result says whether a failure is retryable.

        ``frame`` is the batch of a dataset that a program publishes.
        """
        self._stop_signal.check()
        opened = self._client.runs.open_run(task_id, self._identity)
        return opened if isinstance(opened, RunResult) else self._run(opened, frame)

    def run_claimed(self, ticket: RunTicket, *, within: float | None = None) -> RunResult:
        """Run an attempt claimed from the queue, with a timeout of ``within`` seconds.

        An attempt that cannot be opened fails. After a stop, another worker may claim the task.
        """
        runs = self._client.runs
        try:
            self._stop_signal.check()
            opened = runs.open_claimed(ticket)
        except Fenced:
            raise
        except KeyboardInterrupt:
            runs.fail_run(ticket, failure_of(WorkerStopped(job=ticket.task_id)))
            raise
        except Exception as error:  # noqa: BLE001 - the attempt must end, whatever the error
            return runs.fail_run(ticket, failure_of(error))
        return opened if isinstance(opened, RunResult) else self._run(opened, None, _Queued(within))

    def run_compaction(self, task_id: str) -> RunResult:
        """Merge the small files of a table, without Spark."""
        from openlaketx.pipeline.compaction import run_compaction

        self._stop_signal.check()
        return run_compaction(task_id, self._client)

    def run_adoption(self, task_id: str) -> RunResult:
        """Measure an existing table and submit the evidence, without Spark."""
        from openlaketx.pipeline.adoption import run_adoption

        self._stop_signal.check()
        return run_adoption(task_id, self._client, self._progress)

    def markers(self, places: Sequence[DataPlace]) -> tuple[PlaceMarkers, ...]:
        """Read the delivery markers of target databases, without Spark."""
        from openlaketx.deliver.postgresql.scan import scan_place

        return tuple(scan_place(place) for place in places)

    def deliver(self, delivery: Delivery) -> bool:
        """Deliver the published version to its live table, without Spark. False if up to date."""
        from openlaketx.deliver.postgresql import deliver_to_postgresql
        from openlaketx.engine.file_check import checking_files

        self._stop_signal.check()
        with checking_files(self._client.reader):
            return deliver_to_postgresql(delivery, self._client.reader) is not None

    def rebuild(self, plan: RebuildPlan) -> Rebuilt:
        """Rebuild a past run in a scratch folder and compare its rows."""
        from openlaketx.engine.spark.runtime import runtime_of
        from openlaketx.engine.spark.session import scoped_run_session
        from openlaketx.pipeline.rebuild import rebuild_run

        self._stop_signal.check()
        spark = self._session()
        runtime, group = runtime_of(spark), f"rebuild {plan.run.ticket.run_id}"
        with (
            collecting_notes(),
            scoped_run_session(spark) as session,
            runtime.job_group(session, group),
            self._stop_signal.listening(lambda: runtime.stop_group(session, group)),
        ):
            return rebuild_run(plan, self._client, session, self._progress)

    def stop(self) -> None:
        """Interrupt active runs as Ctrl-C does, and start no more."""
        self._stop_signal.set()

    def _run(
        self, plan: RunPlan, frame: ProgramFrame | None, queued: _Queued | None = None
    ) -> RunResult:
        with detect_interrupts(self._stop_signal) as interrupted:
            try:
                limit = None if queued is None else queued.limit(plan)
                return self._attempt(plan, frame, interrupted, limit)
            except KeyboardInterrupt:
                self._end_interrupted(plan, queued)
                raise
            except Exception as error:  # noqa: BLE001 - the run must end, whatever the error
                if not interrupted():
                    full = full_disk(error, plan.dataset)
                    return self._fail(plan, _spark_ended(plan) or full or error)
        self._end_interrupted(plan, queued)
        raise KeyboardInterrupt

    def _end_interrupted(self, plan: RunPlan, queued: _Queued | None) -> None:
        """An interrupted user run is final; an attempt of a stopped worker is retried."""
        stopped = Interrupted(dataset=plan.dataset)
        self._fail(plan, stopped if queued is None else WorkerStopped(job=plan.dataset))

    def _attempt(
        self,
        plan: RunPlan,
        frame: ProgramFrame | None,
        interrupted: Callable[[], bool],
        limit: Limit | None,
    ) -> RunResult:
        from openlaketx.engine.shown_values import mask_columns
        from openlaketx.pipeline.after_publish import deliver_or_report, profile_if_due
        from openlaketx.pipeline.compaction import compact_if_needed
        from openlaketx.pipeline.run_dataset import run_dataset

        runs, ticket, canceller = self._client.runs, plan.ticket, JobCanceller()
        # Heartbeats start here: a cold start of Spark may take longer than the lease.
        with (
            collecting_notes(),
            mask_columns(plan.private),
            hold_lease(
                runs, ticket, plan.lease_seconds, canceller.cancel, interrupted, limit
            ) as lease,
        ):
            try:
                with self._run_session(ticket.run_id, canceller) as session:
                    lease.check()
                    result = run_dataset(plan, self._client, session, lease, self._progress, frame)
            except Exception:
                lease.check()  # a lost lease or a stop explains any error it caused
                raise
        deliver_or_report(plan, self._client.reader, self._progress)
        compact_if_needed(plan, self._client, self._progress)
        profile_if_due(plan, self._client, self._progress)
        return result

    @contextmanager
    def _run_session(self, run_id: str, canceller: JobCanceller) -> Iterator[SparkSession]:
        """A session for this run only; the canceller and the stop signal cancel its jobs."""
        from openlaketx.engine.spark.runtime import runtime_of
        from openlaketx.engine.spark.session import scoped_run_session

        spark = self._session()
        runtime = runtime_of(spark)
        with (
            scoped_run_session(spark) as session,
            runtime.job_group(session, run_id),
            canceller.active(lambda: runtime.stop_group(session, run_id)),
            self._stop_signal.listening(canceller.cancel),
        ):
            yield session

    def _fail(self, plan: RunPlan, error: Exception) -> RunResult:
        """Fail the run in the control plane; if its commit exists after all, the run succeeds."""
        try:
            return self._client.runs.fail_run(plan.ticket, failure_of(error))
        except Fenced as fenced:
            return _ended_by_others(plan, fenced)


@dataclass(frozen=True)
class _Queued:
    """An attempt claimed from the queue, with its timeout in seconds."""

    within: float | None

    def limit(self, plan: RunPlan) -> Limit | None:
        if self.within is None:
            return None
        return Limit(self.within, JobTimedOut(job=plan.dataset, seconds=f"{self.within:g}"))


def _spark_ended(plan: RunPlan) -> SparkExited | None:
    """If the JVM has exited, that explains any error of the run."""
    from openlaketx.engine.spark.session import engine_ended

    reason = engine_ended()
    return None if reason is None else SparkExited(dataset=plan.dataset, reason=reason)


def _ended_by_others(plan: RunPlan, error: Fenced) -> RunResult:
    return RunResult(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        status=RunStatus.FAILED,
        error=failure_of(error),
        ended_at=datetime.now(UTC),
    )
