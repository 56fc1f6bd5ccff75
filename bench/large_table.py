"""A governed table with a long history: two real runs, then their log and rows cast again.

Its data files are names of a few files: nobody reads them.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable
from sqlalchemy import Table

from bench.mould import ORDER, Mould, Row, mould_of, renumber
from lakeguard.lake.delta import DeltaTables
from lakeguard.lake.log_entries import checkpoint_file
from lakeguard.promotion.context import PlaneContext
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.state.bulk_writes import insert_all
from lakeguard.state.schema import data_versions, intent_outcomes
from lakeguard_sdk.client import Client
from lakeguard_sdk.model.delta_log import CHECKPOINT_INTERVAL, log_file
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project, settings_added

_NO_COMPACTION = "\n[env.dev.maintenance]\ncompact_after = 0\n"
"""All its files are small, and shall stay as many."""
_REAL_RUNS = 2
_AT_ONCE = 1_000
_NAMES_A_FILE = 50_000
"""A file system allows no more names of one file than some 65,000."""


@dataclass(frozen=True)
class LargeTable:
    client: Client
    context: PlaneContext
    location: str
    rows: int
    """In its last version."""


def make_large_table(folder: Path, files: int, versions: int) -> LargeTable:
    """``versions`` must be a multiple of the interval of checkpoints, and of ``files``."""
    if versions % CHECKPOINT_INTERVAL or files % versions:
        raise SystemExit(f"{files:,} files cannot be made by {versions:,} versions")
    with settings_added(_NO_COMPACTION):
        client = numbers_project(folder)
    assert isinstance(client.jobs, EmbeddedJobs)
    context = client.jobs.context
    numbers = list(range(files // versions))
    for _ in range(_REAL_RUNS):
        run_id, location = _publish(client, numbers)
    with context.read() as tx:
        mould = mould_of(tx.connection, run_id, location)
    moves = dict(_cast(mould, range(_REAL_RUNS + 1, versions + 1)))
    handle = DeltaTable(location)
    handle.create_checkpoint()
    mark = DeltaTables().checkpoint_mark(location, versions)
    if handle.version() != versions or mark is None:
        raise SystemExit(f"the table is at commit {handle.version()}")
    _record(context, moves, len(numbers), versions, mark)
    return LargeTable(client, context, location, versions * len(numbers))


def copy_log(table: LargeTable, place: Path) -> str:
    """The same table for somebody else, with its files where they are not."""
    log = Path(checkpoint_file(table.location, 0)).parent
    shutil.copytree(log, place / "_delta_log")
    return str(place)


def _publish(client: Client, numbers: list[int]) -> tuple[str, str]:
    lake, runs = DeltaLake(), client.runs
    plan = runs.open_run(client.operations.submit(NUMBERS, "bench"), this_process("bench"))
    assert isinstance(plan, RunPlan), plan
    runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(lake, plan, numbers, files=len(numbers))
    decision = runs.submit_evidence(plan.ticket, evidence)
    assert decision.allowed, decision.ruling.reasons
    runs.complete_move(plan.ticket, lake.publish(runs.begin_move(plan.ticket)))
    return plan.ticket.run_id, plan.location


def _cast(mould: Mould, numbers: range) -> Iterator[tuple[int, list[tuple[Table, Row]]]]:
    """Writes commits and files; yields the rows of each move."""
    names = sorted(file.name for file in mould.file.parent.iterdir())
    source, linked = mould.file, 0
    for number in numbers:
        rows, commit, path = mould.cast(number, number)
        Path(log_file(mould.location, number)).write_text(commit, "utf-8")
        folder = (Path(mould.location) / path).parent
        folder.mkdir()
        for name in names:
            if linked % _NAMES_A_FILE == 0:
                source = Path(mould.location) / f".source-{linked}"
                shutil.copyfile(mould.file, source)
            os.link(source, folder / name)
            linked += 1
        yield number, rows


def _record(
    context: PlaneContext,
    moves: dict[int, list[tuple[Table, Row]]],
    added: int,
    checkpoint: int,
    mark: str,
) -> None:
    numbers = sorted(moves)
    for start in range(0, len(numbers), _AT_ONCE):
        rows: dict[Table, list[Row]] = defaultdict(list)
        for number in numbers[start : start + _AT_ONCE]:
            for table, row in moves[number]:
                if table is data_versions:
                    row["table_rows"] = number * added
                if table is intent_outcomes:
                    row["checkpoint"] = mark if number == checkpoint else None
                rows[table].append(row)
        with context.write() as tx:
            renumber(tx.connection, rows)
            for table in ORDER:
                insert_all(tx, table, rows[table])
