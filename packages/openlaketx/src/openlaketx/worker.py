"""Worker: runs tasks on one warm Spark session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import Fenced, Interrupted, JobTimedOut, SparkExited, WorkerStopped
from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.model.history import RebuildPlan, Rebuilt
from lakeguard_sdk.model.run import PythonBuild, RunPlan, RunResult, RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.storage import table_uri
from openlaketx.engine.locations import note_spark, shares_disks
from openlaketx.pipeline.early_start import needs_spark
from openlaketx.pipeline.failures import explained, failure_of
from openlaketx.pipeline.lease import JobCanceller, Limit, hold_lease
from openlaketx.pipeline.outages import Outage, PersistentRuns
from openlaketx.pipeline.stop_signal import StopSignal, detect_interrupts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeguard_sdk.ports import Runs
    from openlaketx.engine.known_files import SourceFiles
    from openlaketx.engine.spark.session import Sessions
    from openlaketx.isolation.batch_builder import BatchBuilder
    from openlaketx.isolation.remote_builder import RemoteBuilder


def create_worker(
    client: WorkerClient,
    *,
    spark_options: dict[str, str],
    progress: Progress | None = None,
) -> SparkWorker:
    """The worker of this process. Spark starts with the first task that needs it."""
    note_spark(is_here=shares_disks(spark_options))

    def session() -> SparkSession:
        from openlaketx.engine.spark.session import spark_session

        return spark_session(spark_options)

    def prepare() -> None:
        from openlaketx.engine.spark.session import prepare_session

        prepare_session(spark_options)

    return SparkWorker(client, session, progress, build_options=spark_options, prepare=prepare)


class SparkWorker:
    """Every run it opens ends with a result, or is ended by the reaper after its lease expires.

    Threads may run tasks concurrently on the one session. Python builds run in a build process,
    which has a session with ``build_options``. ``prepare`` begins to start the session, and is
    called where a run needs it for certain.
    """

    def __init__(
        self,
        client: WorkerClient,
        session: Sessions,
        progress: Progress | None = None,
        *,
        build_options: Mapping[str, str] | None = None,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        self._stop_signal = StopSignal()
        outage = Outage(progress)
        self._runs = PersistentRuns(client.runs, self._stop_signal.is_set, outage)
        self._client = replace(client, runs=cast("Runs", self._runs))
        self._session = session
        self._progress = progress
        self._build_options = build_options or {}
        self._prepare = prepare
        self._identity = this_process("openlaketx")

    def run_task(self, task_id: str, builder: RemoteBuilder | None = None) -> RunResult:
        """Open and run the task's next attempt; the result says whether a failure is retryable.

        ``builder`` is the program that publishes a frame, or runs a build on its own session.
        """
        self._stop_signal.check()
        opened = self._client.runs.open_run(task_id, self._identity)
        return opened if isinstance(opened, RunResult) else self._run(opened, builder)

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
        with detect_interrupts(self._stop_signal) as interrupted:
            return run_compaction(task_id, self._client_until(interrupted))

    def run_adoption(self, task_id: str) -> RunResult:
        """Measure an existing table and submit the evidence, without Spark."""
        from openlaketx.pipeline.adoption import run_adoption

        self._stop_signal.check()
        with detect_interrupts(self._stop_signal) as interrupted:
            return run_adoption(task_id, self._client_until(interrupted), self._progress)

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
        from openlaketx.pipeline.rebuild import rebuild_run

        self._stop_signal.check()
        canceller, group = JobCanceller(), f"rebuild {plan.run.ticket.run_id}"
        with ExitStack() as stack:
            sessions = _once(lambda: stack.enter_context(self._run_session(group, canceller)))
            return rebuild_run(
                plan,
                self._client,
                sessions,
                lambda lake, reader: stack.enter_context(
                    self._builder(plan.run, lake, sessions, canceller, reader=reader)
                ),
                self._progress,
            )

    def stop(self) -> None:
        """Interrupt active runs as Ctrl-C does, and start no more."""
        self._stop_signal.set()

    def _run(
        self, plan: RunPlan, builder: RemoteBuilder | None, queued: _Queued | None = None
    ) -> RunResult:
        with detect_interrupts(self._stop_signal) as interrupted:
            try:
                limit = None if queued is None else queued.limit(plan)
                return self._attempt(plan, builder, interrupted, limit)
            except KeyboardInterrupt:
                self._end_interrupted(plan, queued)
                raise
            except Exception as error:  # noqa: BLE001 - the run must end, whatever the error
                if not interrupted():
                    found = _spark_ended(plan) or explained(error, plan)
                    return _fail(plan, found, self._client_until(interrupted))
        self._end_interrupted(plan, queued)
        raise KeyboardInterrupt

    def _end_interrupted(self, plan: RunPlan, queued: _Queued | None) -> None:
        """An interrupted user run is final; an attempt of a stopped worker is retried."""
        stopped = Interrupted(dataset=plan.dataset)
        client = self._client_until(lambda: True)
        _fail(plan, stopped if queued is None else WorkerStopped(job=plan.dataset), client)

    def _attempt(
        self,
        plan: RunPlan,
        given: RemoteBuilder | None,
        interrupted: Callable[[], bool],
        limit: Limit | None,
    ) -> RunResult:
        if given is None and needs_spark(plan, self._client.lake, self._client.reader):
            self._prepare()
        from openlaketx.engine.shown_values import mask_columns
        from openlaketx.pipeline.after_publish import deliver_or_report, profile_if_due
        from openlaketx.pipeline.compaction import compact_if_needed
        from openlaketx.pipeline.run_dataset import run_dataset

        runs, ticket, canceller = self._client.runs, plan.ticket, JobCanceller()
        # Heartbeats start here: a cold start of Spark may take longer than the lease.
        with (
            mask_columns(plan.private),
            hold_lease(
                runs, ticket, plan.lease_seconds, canceller.cancel, interrupted, limit
            ) as lease,
        ):
            try:
                with ExitStack() as stack:

                    def started() -> SparkSession:
                        found = stack.enter_context(self._run_session(ticket.run_id, canceller))
                        lease.check()  # it may have been lost while Spark started
                        return found

                    sessions = _once(started)
                    builder = stack.enter_context(
                        self._builder(plan, self._client.lake, sessions, canceller, given)
                    )
                    lease.check()
                    client = self._client_until(lambda: lease.is_over)
                    result = run_dataset(plan, client, builder, sessions, lease, self._progress)
            except Exception:
                lease.check()  # a lost lease or a stop explains any error it caused
                raise
        deliver_or_report(plan, self._client.reader, self._progress)
        client = self._client_until(interrupted)
        compact_if_needed(plan, client, self._progress)
        profile_if_due(plan, client, self._progress)
        return result

    def _client_until(self, stopped: Callable[[], bool]) -> WorkerClient:
        """Its calls are not repeated once the run is stopped."""
        runs = replace(self._runs, is_stopped=stopped)
        return replace(self._client, runs=cast("Runs", runs))

    @contextmanager
    def _builder(
        self,
        plan: RunPlan,
        lake: str,
        sessions: Sessions,
        canceller: JobCanceller,
        given: RemoteBuilder | None = None,
        reader: SourceFiles | None = None,
    ) -> Iterator[BatchBuilder]:
        """Code of users runs in another process; sources and SQL, which hold none, in this one."""
        from openlaketx.isolation.batch_builder import LocalBuilder

        project = self._client.project or table_uri(self._client.lake)
        if given is None and not isinstance(plan.build, PythonBuild):
            yield LocalBuilder(sessions, lake, project, reader=reader or self._client.reader)
            return
        with ExitStack() as stack:
            remote = given or stack.enter_context(self._build_process(lake, project))
            stack.enter_context(canceller.active(remote.cancel))
            stack.enter_context(self._stop_signal.listening(canceller.cancel))
            yield remote

    def _build_process(self, lake: str, project: str) -> RemoteBuilder:
        from openlaketx.isolation.build_process import build_environment, build_process
        from openlaketx.isolation.remote_builder import RemoteBuilder
        from openlaketx.isolation.warm_process import deny_tracing

        deny_tracing()
        process = build_process(self._build_options)
        return RemoteBuilder(
            process.connect(build_environment(os.environ)),
            lake=lake,
            project=project,
            ending=process.ending,
            abandon=process.end,
        )

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


@dataclass(frozen=True)
class _Queued:
    """An attempt claimed from the queue, with its timeout in seconds."""

    within: float | None

    def limit(self, plan: RunPlan) -> Limit | None:
        if self.within is None:
            return None
        return Limit(self.within, JobTimedOut(job=plan.dataset, seconds=f"{self.within:g}"))


def _once(start: Sessions) -> Sessions:
    """The session that the first call starts."""
    started: list[SparkSession] = []

    def session() -> SparkSession:
        if not started:
            started.append(start())
        return started[0]

    return session


def _spark_ended(plan: RunPlan) -> SparkExited | None:
    """If the JVM has exited, that explains any error of the run."""
    from openlaketx.engine.spark.session import engine_ended

    reason = engine_ended()
    return None if reason is None else SparkExited(dataset=plan.dataset, reason=reason)


def _fail(plan: RunPlan, error: Exception, client: WorkerClient) -> RunResult:
    """Fail the run in the control plane; if its commit exists after all, the run succeeds."""
    try:
        return client.runs.fail_run(plan.ticket, failure_of(error))
    except Fenced as fenced:
        return _ended_by_others(plan, fenced)


def _ended_by_others(plan: RunPlan, error: Fenced) -> RunResult:
    return RunResult(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        status=RunStatus.FAILED,
        error=failure_of(error),
        ended_at=datetime.now(UTC),
    )
