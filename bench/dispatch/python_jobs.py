"""Python jobs that do nothing, through a worker, against bare starts of the same interpreter."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.dispatch.ours import context_of, define_jobs, idle_job, queue_tasks
from bench.dispatch.racing import Address
from bench.figures import Figure
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.worker.attempt import Attempt, Ended, Ending
from lakeguard.worker.loop import WorkerOptions, WorkLoop
from lakeguard.worker.python_job import COMMAND, run_python
from lakeguard.worker.report_batches import ReportBatcher
from lakeguard.worker.task_runner import report_end
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.databases.databases import Server

SLOTS = 2
JOBS = 40
ROUNDS = 5
LEAST = 0.8
"""Of the jobs a second that bare starts would allow."""
_SCHEMA = "python_jobs"
_JOB = "def at_all(job):\n    pass\n"
_STARTED = "import lakeguard_sdk.scheduling.job_process"


def python_job_figures(server: Server, jobs: int = JOBS, rounds: int = ROUNDS) -> list[Figure]:
    address = Address(str(server.folder), server.port)
    context = context_of(address, _SCHEMA)
    job_ids = define_jobs(context, [idle_job("nothing")])
    through, bare = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "nothing.py").write_text(_JOB)
        _bare_starts(folder, jobs=SLOTS)  # byte code is written, files are cached
        for _ in range(rounds):
            bare.append(_bare_starts(folder, jobs))
            queue_tasks(context, job_ids, jobs)
            through.append(_through_worker(EmbeddedDispatch(context), folder, jobs))
    context.database.close()
    ratios = {
        "medians": statistics.median(through) / statistics.median(bare),
        "greatest": max(through) / max(bare),
    }
    worse = min(ratios, key=ratios.__getitem__)
    return [
        Figure(f"bare starts of its interpreter, {SLOTS} at once", statistics.median(bare), "/s"),
        Figure(f"Python jobs through a worker, {SLOTS} slots", statistics.median(through), "/s"),
        *(
            Figure(
                f"Python jobs over bare starts, {kind}",
                ratio,
                "times",
                LEAST if kind == worse else None,
                least=True,
            )
            for kind, ratio in ratios.items()
        ),
    ]


def _through_worker(dispatch: EmbeddedDispatch, folder: str, jobs: int) -> float:
    reports = ReportBatcher(dispatch)

    def work(attempt: Attempt) -> Ended:
        report = run_python(attempt, lake=folder, project=folder)
        assert report is not None
        return report_end(reports, attempt, report)

    loop = WorkLoop(
        dispatch=dispatch,
        identity=this_process("bench"),
        work=work,
        halt=lambda: None,
        options=WorkerOptions(slots=SLOTS, drain=True),
        reports=reports,
    )
    begun = time.perf_counter()
    ended = loop.run()
    seconds = time.perf_counter() - begun
    assert ended == {Ending.SUCCEEDED: jobs}, ended
    return jobs / seconds


def _bare_starts(folder: str, jobs: int) -> float:
    """The interpreter with the flags and imports of a job, as many at once."""
    command = [*COMMAND[:-2], "-c", _STARTED]

    def start(_: int) -> None:
        subprocess.run(command, cwd=folder, check=True)

    begun = time.perf_counter()
    with ThreadPoolExecutor(SLOTS) as pool:
        list(pool.map(start, range(jobs)))
    return jobs / (time.perf_counter() - begun)
