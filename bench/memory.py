"""The gate's memory: drafts against stored decisions, all decisions again, profiles."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from shutil import rmtree

from sqlalchemy import select

from bench import profiling
from bench.figures import SCRATCH, Figure
from lakeguard.dispatch import tasks
from lakeguard.gate.rules.compile import measures_for
from lakeguard.insight.history.backtest import backtest
from lakeguard.insight.history.port import replay_all
from lakeguard.lake.delta import DeltaTables
from lakeguard.ledger.versions import (
    StoredVersion,
    move_pointer,
    next_version,
    record_version,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.record_decision import Case, decide_and_record
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.promotion.opening.pinned_rules import pin_rules
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state, require_dataset
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import decisions
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    LoadType,
    MoveKind,
    SourceFormat,
    TaskKind,
)
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AnyMeasure,
    MeasureValue,
    RowCount,
    measure_key,
)
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    SourceDefinition,
)
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.projects.definitions import rule

NAME = "memory"
ORG = "default"
DECISIONS, TESTED, PUBLISHED, COLUMNS = 10_000, 1_000, 1_500, 10
BACKTEST_BAR_S, REPLAY_BAR_S = 5.0, 30.0
_DATASET = DatasetName("bronze.wide")
_RULES = (
    "not_null({0})",
    "range({0}, min=0, max=1000) fail_if > {1}",
    "mean({0}, min=1, max={2})",
    "unique({0}) fail_if > {1}",
    "completeness({0}, min=9{3}%)",
)
_LOOKING_BACK = (
    "mean({0}, min=1, max={2}, change=1000%)",
    "mean({0}, min=1, max={2}, band='mad')",
)
"""In the place of the third in the draft, for every second column."""
_ROWS = 10_000
_ODD = 0.001


def run() -> list[Figure]:
    figures = remembered()
    return [*figures, *profiling.run()]


def remembered() -> list[Figure]:
    """Both parts over the same decisions."""
    folder = SCRATCH / NAME
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    context = _history(folder)
    with context.read() as tx:
        at = decisions.c.decided_at
        asked = select(at).order_by(at.desc()).offset(TESTED - 1).limit(1)
        since = tx.scalar(asked)
    assert since is not None
    draft = _dataset(5, 800, 8, looking_back=True)
    assert len(draft.rules) == 50
    begun, cpu = time.perf_counter(), time.process_time()
    tested = backtest(OrganisationState.of(context.database, ORG), context.lake, draft, since)
    testing, testing_cpu = time.perf_counter() - begun, time.process_time() - cpu
    assert tested.runs == TESTED, tested.runs
    assert all(item.judged == TESTED for item in tested.rules), "every rule in every run"
    begun, cpu = time.perf_counter(), time.process_time()
    replayed = replay_all(OrganisationState.of(context.database, ORG), None, None, None)
    replaying, replaying_cpu = time.perf_counter() - begun, time.process_time() - cpu
    assert (replayed.decisions, replayed.differences) == (DECISIONS, ())
    print(f"{NAME}: the draft blocks {len(tested.blocks):,} of {TESTED:,} runs", flush=True)
    return [
        Figure(f"back-test, {TESTED:,} decisions, 50 rules", testing, "s", BACKTEST_BAR_S),
        Figure(f"back-test, {TESTED:,} decisions, 50 rules, CPU", testing_cpu, "s"),
        Figure(f"replay, {DECISIONS:,} decisions of 50 rules", replaying, "s", REPLAY_BAR_S),
        Figure(f"replay, {DECISIONS:,} decisions of 50 rules, CPU", replaying_cpu, "s"),
    ]


def _dataset(least: int, mean: int, share: int, *, looking_back: bool = False) -> DatasetDefinition:
    names = [f"c{number}" for number in range(COLUMNS)]
    texts = [(name, text) for name in names for text in _RULES]
    if looking_back:
        for place in range(2, len(texts), 2 * len(_RULES)):
            name = texts[place][0]
            texts[place] = name, _LOOKING_BACK[place // len(_RULES) // 2 % 2]
    return DatasetDefinition(
        dataset=_DATASET,
        domain="bench",
        owner="bench",
        build=FromSource(source="wide"),
        load=LoadType.APPEND,
        columns=tuple(ColumnDefinition(name=name, type="long") for name in names),
        rules=tuple(rule(text.format(name, least, mean, share)) for name, text in texts),
    )


def _history(folder: Path) -> PlaneContext:
    """Decisions made and recorded as runs have them made, each on numbers of its own."""
    database = Database(f"sqlite:///{folder}/state.db")
    database.migrate()
    context = PlaneContext(
        database=database,
        tables=DeltaTables(),
        org_id=ORG,
        lake=str(folder),
        clock=lambda: datetime.now(UTC),
        actor="bench",
    )
    source = SourceDefinition(source="wide", format=SourceFormat.CSV, path="wide/*.csv")
    definitions = Definitions(sources=(source,), datasets=(_dataset(20, 900, 5),))
    with OrganisationState.of(database, ORG).write() as tx:
        plan = make_plan(definitions, read_state(tx))
        apply_plan(tx, plan, "bench", context.clock())
    chance = Random(7)
    for done in range(0, DECISIONS, 500):
        _decide(context, 500, chance, publish=done >= DECISIONS - PUBLISHED)
    return context


def _decide(context: PlaneContext, count: int, chance: Random, *, publish: bool) -> None:
    with context.write() as tx:
        dataset = require_dataset(tx, _DATASET)
        pinned = pin_rules(tx, dataset, published=None)
        schema = dataset.definition.table_schema
        measures = measures_for(pinned.rules, schema)
        for _ in range(count):
            task_id = tasks.submit(
                tx,
                dataset.dataset_id,
                kind=TaskKind.BUILD,
                key=None,
                parameters="{}",
                triggered_by="bench",
                at=context.clock(),
                attempts=context.dispatch.attempts,
            )
            _, ticket = tasks.claim(
                tx,
                task_id,
                this_process("bench"),
                context.clock(),
                TaskKind.BUILD,
                context.dispatch.lease,
            )
            case = Case(ticket.run_id, dataset, schema, pinned, Findings())
            values = {measure_key(item): _value(item, chance) for item in measures}
            evidence = _evidence(ticket.run_id, dataset.definition, values)
            decision = decide_and_record(tx, context, case, evidence)
            if publish and decision.allowed:
                _publish(tx, dataset.dataset_id, evidence, decision)


def _publish(tx: Transaction, dataset_id: str, evidence: Evidence, decision: Decision) -> None:
    """As State has a publish; the table itself is no part of what is measured."""
    number, at = next_version(tx, dataset_id), tx.now()
    version = StoredVersion(
        dataset_id=dataset_id,
        version=number,
        snapshot_ref=f"delta:bench@{number}",
        schema_hash=evidence.table_schema.schema_hash,
        row_count=evidence.rows,
        promoted_at=at,
        promoted_by="bench",
        version_id=new_id("ver"),
        run_id=evidence.run_id,
        decision_id=decision.decision_id,
        table_rows=evidence.table_rows,
        table_id="bench",
        commit_version=number,
        commit_sha256="",
        seq=number,
        table_schema=evidence.table_schema,
        ruleset_hash=decision.case.ruleset,
        policies_hash=decision.case.policies,
        build_hash=evidence.build_hash,
        position_hash=None,
    )
    record_version(tx, version, ())
    move_pointer(
        tx,
        dataset_id,
        version=number,
        commit=number,
        kind=MoveKind.PUBLISH,
        at=at,
        actor="bench",
        reason="",
        decision_id=decision.decision_id,
    )


def _value(measure: AnyMeasure, chance: Random) -> MeasureValue:
    """Of a thousand numbers one is such that a rule fails; all others let the run pass."""
    if isinstance(measure, RowCount) and measure.where is None:
        return _ROWS
    odd = chance.random() < _ODD
    if isinstance(measure, Aggregate):
        return 950.0 if odd else float(chance.randint(1, 850))
    return chance.randint(1, 30) if odd else 0


def _evidence(
    run_id: str, definition: DatasetDefinition, measures: dict[str, MeasureValue]
) -> Evidence:
    file = StagedFile(
        path=f"runs/{run_id}/part-0.parquet", size=1, rows=_ROWS, modified_ms=1, stats="{}"
    )
    return Evidence(
        run_id=run_id,
        dataset=definition.dataset,
        table_schema=definition.table_schema,
        rows=_ROWS,
        table_rows=_ROWS,
        files=(file,),
        removes=(),
        base_commit=None,
        measures=measures,
        inputs=(),
        build_hash="sha256:0",
        engine="bench",
    )
