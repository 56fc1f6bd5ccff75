"""What the control plane costs on a table with a long history, and on a State with many runs.

Environment, for a quick look: ``BENCH_FILES``, ``BENCH_VERSIONS``, ``BENCH_RUNS``,
``BENCH_DATASETS``.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench.figures import SCRATCH, Figure
from bench.history import publish_numbers
from bench.large_state import REAL, make_large_state
from bench.large_table import LargeTable, copy_log, make_large_table
from bench.turns import against_bare, governed, in_turns, submitted
from lakeguard.insight.reader.reader import StateReader
from lakeguard.promotion.context import PlaneContext
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker
from tests.support.lakes.lakes import DeltaLake
from tests.support.projects.planes import NUMBERS

NAME = "scale"
FILES = int(os.environ.get("BENCH_FILES", "100000"))
VERSIONS = int(os.environ.get("BENCH_VERSIONS", "10000"))
RUNS = int(os.environ.get("BENCH_RUNS", "1000000"))
DATASETS = int(os.environ.get("BENCH_DATASETS", "5000"))
FEW_FILES = FEW_VERSIONS = 100
FEW_RUNS = 1_000
ROUNDS = 15
PAIRS = 7
WARM_UP = 3
BAR = 1.5
RUN_BAR = 1.1
_NOTES = {
    "status": f"With {FEW_RUNS:,} runs, most of the {DATASETS:,} datasets have none: no version, no"
    f" run and no decision to read and to show. With {DATASETS:,} runs, each has one."
}
_FEW_ROWS, _MANY_ROWS = 10, 2_000_000
_RUN_NOTES = {
    _FEW_ROWS: "The data plane lists the files of the table twice for each run, at its base and"
    " before the commit; delta-spark keeps its list between appends. A run of ten rows also has a"
    " fixed cost that a bare append has not."
}
T = TypeVar("T")
_CALLS = ("open", "decide", "begin", "complete")


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        return [*_states(), *_tables()]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def _states() -> list[Figure]:
    """All have as many datasets, of which ``REAL`` has the same runs; they are asked in turns."""
    made: dict[int, PlaneContext] = {}
    for runs in sorted({FEW_RUNS, DATASETS, RUNS}):
        folder = SCRATCH / f"state-{runs}"
        folder.mkdir(parents=True)
        seconds, made[runs] = _timed(partial(make_large_state, folder, runs, DATASETS))
        print(f"{NAME}: a State with {runs:,} runs is made in {seconds:.0f} s", flush=True)
    asked = {runs: _questions(context) for runs, context in made.items()}
    figures = []
    for label in asked[FEW_RUNS]:
        times = _least({runs: asks[label] for runs, asks in asked.items()})
        figures += _of_states(label, times)
    for context in made.values():
        context.database.close()
    return figures


def _of_states(label: str, times: dict[int, float]) -> list[Figure]:
    """Also against one run of each dataset, so that both have as many versions to show."""
    size = f"{RUNS:,} runs"
    return [
        *_against_few(label, size, times[RUNS], times[FEW_RUNS], _NOTES.get(label, "")),
        Figure(f"{label}, {size} / {DATASETS:,}", times[RUNS] / times[DATASETS], "x", BAR),
        Figure(f"{label}, {DATASETS:,} runs", times[DATASETS] * 1000, "ms"),
    ]


def _questions(context: PlaneContext) -> dict[str, Callable[[], object]]:
    reader = StateReader(context, context.lake)
    return {
        "status": reader.status,
        "runs": reader.runs,
        "runs of a dataset": lambda: reader.runs(REAL),
        "open to complete": lambda: publish_numbers(context, REAL),
    }


def _tables() -> list[Figure]:
    few = _made(FEW_FILES, FEW_VERSIONS)
    many = _made(FILES, VERSIONS)
    spent: list[tuple[dict[str, float], dict[str, float]]] = []
    for number in range(1, ROUNDS + 1):
        spent.append((_calls(many, number), _calls(few, number)))
    label = f"{FILES:,} files, {VERSIONS:,} versions"
    figures = []
    for call in (*_CALLS, "commit"):
        ours, base = (median(side[at][call] for side in spent) for at in (0, 1))
        figures.append(Figure(f"{call}, {label}", ours * 1000, "ms"))
        figures.append(Figure(f"{call}, {FEW_FILES} files", base * 1000, "ms"))
    totals = [[sum(side[at][call] for call in _CALLS) for side in spent] for at in (0, 1)]
    return [
        *_against_few("calls of a run", label, median(totals[0]), median(totals[1])),
        *figures,
        *_whole_runs(many, label),
    ]


def _made(files: int, versions: int) -> LargeTable:
    folder = SCRATCH / f"table-{files}"
    seconds, table = _timed(lambda: make_large_table(folder, files, versions))
    print(f"{NAME}: a table of {files:,} files is made in {seconds:.0f} s", flush=True)
    return table


def _calls(table: LargeTable, number: int) -> dict[str, float]:
    """Seconds of each call of a run that appends ten rows; the commit is the data plane's."""
    runs, lake = table.client.runs, DeltaLake()
    spent: dict[str, float] = {}
    task = table.client.operations.submit(NUMBERS, "bench")
    spent["open"], plan = _timed(lambda: runs.open_run(task, this_process("bench")))
    assert isinstance(plan, RunPlan), plan
    evidence = _evidence(lake, plan, table.rows + 10 * (number - 1))

    def decide() -> bool:
        runs.submit_schema(plan.ticket, plan.declared)
        return runs.submit_evidence(plan.ticket, evidence).allowed

    spent["decide"], allowed = _timed(decide)
    assert allowed
    spent["begin"], intent = _timed(lambda: runs.begin_move(plan.ticket))
    spent["commit"], commit = _timed(lambda: lake.publish(intent))
    spent["complete"], _ = _timed(lambda: runs.complete_move(plan.ticket, commit))
    return spent


def _evidence(lake: DeltaLake, plan: RunPlan, before: int) -> Evidence:
    staged = lake.stage(plan.location, f"{plan.staging}/part.parquet", list(range(10)))
    return Evidence(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        table_schema=plan.table_schema,
        rows=10,
        table_rows=before + 10,
        files=(staged,),
        removes=(),
        inputs=(),
        base_commit=plan.base.commit if plan.base else None,
        measures={measure_key(RowCount()): 10},
        build_hash="sha256:0",
        engine="by hand",
    )


def _whole_runs(table: LargeTable, label: str) -> list[Figure]:
    """Runs of the Spark worker against delta-spark's append of the same file to the same log."""
    folder = Path(table.context.lake)
    target = copy_log(table, SCRATCH / "bare")
    worker = create_worker(table.client.for_worker(), spark_options={})
    spark = spark_session({}, delta=True)

    def bare(file: Path) -> float:
        start = time.perf_counter()
        rows = spark.read.schema("n long").csv(str(file), header=True)
        rows.write.format("delta").mode("append").save(target)
        return time.perf_counter() - start

    def pairs(numbers: range, rows: int) -> Iterator[tuple[float, float]]:
        for number in numbers:
            file = _land(folder, number, rows)
            ours, theirs = in_turns(
                number,
                lambda: governed(worker, submitted(table.client, NUMBERS)),
                partial(bare, file),
            )
            print(f"  {NAME}: guarded {ours:.2f} s, bare {theirs:.2f} s", flush=True)
            yield ours, theirs

    figures = []
    for at, rows in enumerate((_FEW_ROWS, _MANY_ROWS)):
        first = at * (WARM_UP + PAIRS)
        measured = list(pairs(range(first, first + WARM_UP + PAIRS), rows))[WARM_UP:]
        note = _RUN_NOTES.get(rows, "")
        figures += against_bare(f"{rows:,} rows, {label}", measured, RUN_BAR, note)
    return figures


def _land(folder: Path, number: int, rows: int) -> Path:
    file = folder / "numbers" / f"numbers-{number:04d}.csv"
    file.parent.mkdir(exist_ok=True)
    first = number * _MANY_ROWS
    file.write_text("n\n" + "".join(f"{n}\n" for n in range(first, first + rows)))
    return file


def _against_few(label: str, size: str, many: float, few: float, note: str = "") -> list[Figure]:
    return [
        Figure(f"{label}, {size} / few", many / few, "x", BAR, note=note),
        Figure(f"{label}, {size}", many * 1000, "ms"),
        Figure(f"{label}, few", few * 1000, "ms"),
    ]


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def _least(asks: Mapping[int, Callable[[], object]]) -> dict[int, float]:
    """After one that fills caches; others on the machine can only make it slower."""
    for ask in asks.values():
        ask()
    rounds = [{key: _timed(ask)[0] for key, ask in asks.items()} for _ in range(ROUNDS)]
    return {key: min(times[key] for times in rounds) for key in asks}
