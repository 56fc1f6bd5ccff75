"""Adoption of an existing table: its files are read, none is written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import Failure, RunResult
from lakeguard_sdk.model.table_operations import AdoptionPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.file_records import footer_digest
from lakeguard_sdk.storage.storage import Storage, join, storage_for
from openlaketx.engine.machine import cores
from openlaketx.measure import Measured, Subject, take_measures
from openlaketx.measure.subject import referenced_rows
from openlaketx.pipeline.after_publish import deliver_or_report
from openlaketx.pipeline.failures import failure_of, lost_store
from openlaketx.pipeline.lease import Lease, hold_lease
from openlaketx.stage import Candidate
from openlaketx.stage.candidate import shown_file


def run_adoption(task_id: str, client: WorkerClient, progress: Progress | None = None) -> RunResult:
    """Run a requested adoption, without Spark."""
    opened = client.runs.open_adoption(task_id, this_process("openlaketx"))
    if isinstance(opened, RunResult):
        return opened
    try:
        with hold_lease(
            client.runs, opened.ticket, opened.run.lease_seconds, lambda: None
        ) as lease:
            result = _adopt(opened, client, lease, progress)
    except KeyboardInterrupt:
        client.runs.fail_run(opened.ticket, Failure(code="LG-0000", message="interrupted"))
        raise
    except Exception as error:  # noqa: BLE001 - the run must end, whatever the error
        cause = lost_store(error, opened.run.location) or error
        return client.runs.fail_run(opened.ticket, failure_of(cause))
    deliver_or_report(opened.run, client.reader, progress)
    return result


def _adopt(
    plan: AdoptionPlan, client: WorkerClient, lease: Lease, progress: Progress | None
) -> RunResult:
    candidate = _candidate(plan, storage_for(plan.run.location))
    if progress:
        progress("measure", {"rows": candidate.rows, "files": len(candidate.files)})
    candidate = _hashed(candidate, lease)
    lease.check()
    measured = take_measures(plan.run.measures, _subject(plan, candidate))
    lease.check()
    if progress:
        progress("decide", {"measures": len(measured.values)})
    return client.runs.submit_adoption(plan.ticket, _evidence(plan, candidate, measured))


def _candidate(plan: AdoptionPlan, storage: Storage) -> Candidate:
    """All files of the table, each checked against its footer. Footers are dropped: their columns
    may be in any order."""
    files = [shown_file(file, plan.run, storage) for file in plan.files]
    return Candidate(plan.run.location, tuple(files), ())


def _hashed(candidate: Candidate, lease: Lease) -> Candidate:
    storage = storage_for(candidate.location)

    def sha256(path: str) -> str:
        lease.check()
        return storage.sha256(join(candidate.location, path))

    with ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="hash") as hashing:
        paths = [file.path for file in candidate.files]
        hashes = list(hashing.map(sha256, paths))
    footers = [footer_digest(join(candidate.location, path)) for path in paths]
    return candidate.with_hashes(hashes, footers)


def _subject(plan: AdoptionPlan, candidate: Candidate) -> Subject:
    """The whole table is the batch; files may lack columns added after they were written."""
    paths = tuple(file.path for file in candidate.files)
    lacking = {file.path: file.partition for file in candidate.files}
    return Subject(
        candidate,
        plan.run.table_schema,
        paths,
        candidate.rows,
        lacking=lacking,
        references=referenced_rows(plan.run, paths, lacking),
    )


def _evidence(plan: AdoptionPlan, candidate: Candidate, measured: Measured) -> Evidence:
    fault_points.reached("adopt.measured")
    return Evidence(
        run_id=plan.ticket.run_id,
        dataset=plan.run.dataset,
        table_schema=plan.run.table_schema,
        rows=candidate.rows,
        table_rows=candidate.rows,
        files=candidate.files,
        removes=(),
        base_commit=plan.commit,
        measures=measured.values,
        unmeasured=measured.unmeasured,
        inputs=(),
        build_hash=content_hash({"build": "adoption", "openlaketx": version("openlaketx")}),
        engine=measured.engine,
    )
