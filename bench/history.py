"""A long history, made quickly: few real runs, cast again and again into State and lake."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from deltalake import DeltaTable
from sqlalchemy import Table

from bench.mould import ORDER, Mould, Row, mould_of, renumber
from lakeguard.dispatch import tasks
from lakeguard.lake.delta import DeltaTables
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state, require_dataset
from lakeguard.relay.attach import attach
from lakeguard.relay.relay import Relay
from lakeguard.state import outbox
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat, TaskKind
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    SourceDefinition,
)
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.storage import join
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.definitions import rule

ORG = "default"
_AT_ONCE = 2_000
_RULES = tuple(f"row_count(min={least})" for least in range(1, 6))


@dataclass(frozen=True)
class History:
    """A State that owns its lake, and how long its delivery took."""

    database: Database
    lake: str
    rows: int
    relay_seconds: float


def make_history(
    folder: Path, runs: int, datasets: int, database: Database | None = None
) -> History:
    """``runs`` published runs over ``datasets`` tables, delivered to the ledger."""
    database = database or Database(f"sqlite:///{folder}/.lakeguard/state.db")
    context = make_context(database, folder, datasets)
    relay = Relay(OrganisationState.of(database, ORG, context.clock), context.lake)
    moulds = [_mould(context, dataset_name(index)) for index in range(datasets)]
    made = 2 * datasets
    number = 2
    while made < runs:
        upto = min(
            number + max(1, _AT_ONCE // datasets),
            2 + (runs - made + datasets - 1) // datasets + number,
        )
        _cast(context, moulds, range(number + 1, upto + 1))
        made += datasets * (upto - number)
        number = upto
    for mould in moulds:
        DeltaTable(mould.location).create_checkpoint()
    begun = time.perf_counter()
    synced = relay.drain()
    return History(database, context.lake, synced.rows, time.perf_counter() - begun)


def _cast(context: PlaneContext, moulds: list[Mould], numbers: range) -> None:
    rows: dict[Table, list[Row]] = defaultdict(list)
    for index, mould in enumerate(moulds):
        for number in numbers:
            made, commit, path = mould.cast(number, index * 10**12 + number)
            for table, row in made:
                rows[table].append(row)
            Path(log_file(mould.location, number)).write_text(commit, "utf-8")
            file = Path(mould.location) / path
            file.parent.mkdir()
            os.link(mould.file, file)
    with context.write() as tx:
        renumber(tx.connection, rows)
        for table in ORDER:
            outbox.record(tx, table, rows[table], context.clock())


def _mould(context: PlaneContext, name: DatasetName) -> Mould:
    """Two real runs; the second has a base, as all that follow."""
    for _ in range(2):
        run_id, location = publish_numbers(context, name)
    with context.read() as tx:
        return mould_of(tx.connection, run_id, location)


def publish_numbers(context: PlaneContext, name: DatasetName) -> tuple[str, str]:
    runs, lake = PromotionRuns(context), DeltaLake()
    with context.write() as tx:
        dataset = require_dataset(tx, name)
        task_id = tasks.submit(
            tx,
            dataset.dataset_id,
            kind=TaskKind.BUILD,
            key=None,
            parameters="{}",
            triggered_by="bench",
            at=context.clock(),
            rules=context.dispatch,
        )
    plan = runs.open_run(task_id, this_process("bench"))
    assert isinstance(plan, RunPlan), plan
    runs.submit_schema(plan.ticket, plan.declared)
    decision = runs.submit_evidence(plan.ticket, evidence_of(lake, plan, [1, 2, 3, 4, 5, 6]))
    assert decision.allowed, decision.ruling.reasons
    runs.complete_move(plan.ticket, lake.publish(runs.begin_move(plan.ticket)))
    return plan.ticket.run_id, join(context.lake, dataset.location)


def make_context(database: Database, folder: Path, datasets: int) -> PlaneContext:
    database.migrate()
    context = PlaneContext(
        database=database,
        tables=DeltaTables(),
        org_id=ORG,
        lake=str(folder),
        clock=lambda: datetime.now(UTC),
        actor="bench",
    )
    attach(OrganisationState.of(database, ORG, context.clock), context.lake)
    with OrganisationState.of(database, ORG).write() as tx:
        plan = make_plan(_definitions(datasets), read_state(tx))
        apply_plan(tx, plan, "bench", context.clock())
    return context


def _definitions(datasets: int) -> Definitions:
    rules = tuple(rule(text, rule_id=f"rows_{at}") for at, text in enumerate(_RULES))
    return Definitions(
        sources=(
            SourceDefinition(source="numbers", format=SourceFormat.CSV, path="numbers/*.csv"),
        ),
        datasets=tuple(
            DatasetDefinition(
                dataset=dataset_name(index),
                domain="bench",
                owner="bench",
                build=FromSource(source="numbers"),
                load=LoadType.APPEND,
                columns=(ColumnDefinition(name="n", type="long"),),
                rules=rules,
            )
            for index in range(datasets)
        ),
    )


def dataset_name(index: int) -> DatasetName:
    return DatasetName(f"bronze.numbers_{index}")
