"""A data plane by hand: one column of numbers, staged without Spark, published for real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import MoveError
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.evidence import Changes, Evidence, SourceFile, SourcePosition
from lakeguard_sdk.model.run import (
    Failure,
    RunPlan,
    RunResult,
    RunTicket,
    SourceBuild,
)
from lakeguard_sdk.model.table_operations import Compacted, CompactionPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.fault_points import reached
from tests.support.lakes.lakes import DeltaLake, Lake
from tests.support.projects.planes import NUMBERS


def evidence_of(lake: Lake, plan: RunPlan, numbers: list[int], files: int = 1) -> Evidence:
    """Stage ``numbers`` in so many files and say truthfully what was staged."""
    staged = tuple(
        lake.stage(plan.location, f"{plan.staging}/part{index or ''}.parquet", part)
        for index in range(files)
        if (part := numbers[index::files])
    )
    full = plan.load.type is LoadType.FULL
    live = lake.files(plan.location, plan.base.commit) if plan.base else ()
    kept = 0
    if plan.base and not full:
        kept = sum(lake.numbers(plan.location, plan.base.commit).values())
    return Evidence(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        table_schema=plan.table_schema,
        rows=len(numbers),
        table_rows=kept + len(numbers),
        files=staged,
        removes=live if full else (),
        base_commit=plan.base.commit if plan.base else None,
        measures={measure_key(RowCount()): len(numbers)},
        inputs=tuple(pin.input for pin in plan.pins),
        build_hash="sha256:0",
        engine="by hand",
    )


def compacted_of(lake: Lake, plan: CompactionPlan) -> Compacted:
    """Merge the files of each group and say truthfully what came of it."""
    before = [[lake.contents(plan.location, path) for path in group] for group in plan.groups]
    merged = [[number for numbers in group for number in numbers] for group in before]
    adds = tuple(
        lake.stage(plan.location, f"{plan.staging}/merged-{index}.parquet", numbers)
        for index, numbers in enumerate(merged)
    )
    after = [lake.contents(plan.location, file.path) for file in adds]
    return Compacted(
        base_commit=plan.base.commit,
        adds=adds,
        removes=tuple(path for group in plan.groups for path in group),
        rows=sum(map(len, merged)),
        before=str(sorted(number for numbers in merged for number in numbers)),
        after=str(sorted(number for numbers in after for number in numbers)),
    )


def compact_by_hand(client: Client) -> RunResult:
    """One compaction of the numbers dataset from order to completion, by this process."""
    lake = DeltaLake()
    task_id = client.operations.submit_compaction(NUMBERS, "by hand")
    plan = client.runs.open_compaction(task_id, this_process("by hand"))
    if isinstance(plan, RunResult):
        return plan
    compacted = compacted_of(lake, plan)
    reached("compact.written")
    try:
        commit = lake.publish(client.runs.submit_compaction(plan.ticket, compacted))
    except MoveError as error:
        failure = Failure(code=error.code, message=str(error), retryable=error.retryable)
        return client.runs.fail_run(plan.ticket, failure)
    return client.runs.complete_move(plan.ticket, commit)


def run_by_hand(
    client: Client,
    numbers: list[int],
    task_id: str | None = None,
    notes: dict[str, Any] | None = None,
    changes: Changes | None = None,
    claimed: RunTicket | None = None,
    source_file: str = "",
) -> RunResult:
    """One run of the numbers dataset from submit to completion, by this process; or of a task
    that it has claimed. It reads a file of the source, where one is named."""
    lake = DeltaLake()
    if claimed is None:
        task_id = task_id or client.operations.submit(NUMBERS, "by hand")
        plan = client.runs.open_run(task_id, this_process("by hand"))
    else:
        plan = client.runs.open_claimed(claimed)
    if isinstance(plan, RunResult):
        return plan
    client.runs.submit_schema(plan.ticket, plan.declared)
    given = {"notes": notes or {}, "changes": changes}
    evidence = evidence_of(lake, plan, numbers).model_copy(update=given)
    if source_file:
        evidence = evidence.model_copy(update={"position": _read(plan, source_file)})
    reached("stage.written")
    reached("measure.taken")
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    assert decision.allowed, decision.ruling.reasons
    try:
        commit = lake.publish(client.runs.begin_move(plan.ticket))
    except MoveError as error:
        failure = Failure(code=error.code, message=str(error), retryable=error.retryable)
        return client.runs.fail_run(plan.ticket, failure)
    return client.runs.complete_move(plan.ticket, commit)


def _read(plan: RunPlan, path: str) -> SourcePosition:
    """One file more than the base version has read."""
    known = plan.build.position if isinstance(plan.build, SourceBuild) else None
    file = SourceFile(path=path, size=1, modified_ms=1)
    return SourcePosition(since=known.version if known else 0, files=(file,))


def shown(folder: Path) -> list[int]:
    """What a direct reader of the table sees."""
    lake = DeltaLake()
    location = str(folder / "bronze" / "numbers")
    return sorted(lake.numbers(location, lake.tables.head_version(location)).elements())
