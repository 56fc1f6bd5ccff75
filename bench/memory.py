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
from lakeguard.dispatch.tasks import TaskKind
from lakeguard.gate.rules import measures_for
from lakeguard.insight.backtesting import backtest
from lakeguard.insight.replaying_all import replay_all
from lakeguard.lake.delta import DeltaTables
from lakeguard.promotion.deciding import Case, decide_and_record
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.heart import Heart
from lakeguard.promotion.subjects import pin_rules
from lakeguard.registry.planning import make_plan
from lakeguard.registry.store import apply_plan, read_state, require_dataset
from lakeguard.state.database import Database
from lakeguard.state.tables import decisions
from lakeguard_sdk.definition import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    SourceDefinition,
)
from lakeguard_sdk.evidence import Evidence, StagedFile
from lakeguard_sdk.measure import Aggregate, AnyMeasure, MeasureValue, RowCount, measure_key
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.processes import this_process
from lakeguard_sdk.words import LoadType, SourceFormat
from tests.worlds.definitions import rule

NAME = "memory"
ORG = "default"
DECISIONS, TESTED, COLUMNS = 10_000, 1_000, 10
BACKTEST_BAR_S, REPLAY_BAR_S = 5.0, 30.0
_DATASET = DatasetName("bronze.wide")
_RULES = (
    "not_null({0})",
    "range({0}, min=0, max=1000) fail_if > {1}",
    "mean({0}, min=1, max={2})",
    "unique({0}) fail_if > {1}",
    "completeness({0}, min=9{3}%)",
)
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
    heart = _history(folder)
    with heart.database.read() as connection:
        at = decisions.c.decided_at
        asked = select(at).order_by(at.desc()).offset(TESTED - 1).limit(1)
        since = connection.scalar(asked)
    assert since is not None
    draft = _dataset(5, 800, 8)
    assert len(draft.rules) == 50
    begun, cpu = time.perf_counter(), time.process_time()
    tested = backtest(heart.database, ORG, heart.lake, draft, since)
    testing, testing_cpu = time.perf_counter() - begun, time.process_time() - cpu
    assert tested.runs == TESTED, tested.runs
    assert all(item.judged == TESTED for item in tested.rules), "every rule in every run"
    begun, cpu = time.perf_counter(), time.process_time()
    replayed = replay_all(heart.database, ORG, None, None, None)
    replaying, replaying_cpu = time.perf_counter() - begun, time.process_time() - cpu
    assert (replayed.decisions, replayed.differences) == (DECISIONS, ())
    print(f"{NAME}: the draft blocks {len(tested.blocks):,} of {TESTED:,} runs", flush=True)
    return [
        Figure(f"back-test, {TESTED:,} decisions, 50 rules", testing, "s", BACKTEST_BAR_S),
        Figure(f"back-test, {TESTED:,} decisions, 50 rules, CPU", testing_cpu, "s"),
        Figure(f"replay, {DECISIONS:,} decisions of 50 rules", replaying, "s", REPLAY_BAR_S),
        Figure(f"replay, {DECISIONS:,} decisions of 50 rules, CPU", replaying_cpu, "s"),
    ]


def _dataset(least: int, mean: int, share: int) -> DatasetDefinition:
    names = [f"c{number}" for number in range(COLUMNS)]
    return DatasetDefinition(
        dataset=_DATASET,
        domain="bench",
        owner="bench",
        build=FromSource(source="wide"),
        load=LoadType.APPEND,
        columns=tuple(ColumnDefinition(name=name, type="long") for name in names),
        rules=tuple(rule(t.format(name, least, mean, share)) for name in names for t in _RULES),
    )


def _history(folder: Path) -> Heart:
    """Decisions made and recorded as runs have them made, each on numbers of its own."""
    database = Database(f"sqlite:///{folder}/state.db")
    database.migrate()
    heart = Heart(
        database=database,
        tables=DeltaTables(),
        org_id=ORG,
        lake=str(folder),
        clock=lambda: datetime.now(UTC),
        actor="bench",
    )
    source = SourceDefinition(source="wide", format=SourceFormat.CSV, path="wide/*.csv")
    definitions = Definitions(sources=(source,), datasets=(_dataset(20, 900, 5),))
    with database.write() as connection:
        plan = make_plan(definitions, read_state(connection, ORG))
        apply_plan(connection, plan, ORG, "bench", heart.clock())
    chance = Random(7)
    for _ in range(DECISIONS // 500):
        _decide(heart, 500, chance)
    return heart


def _decide(heart: Heart, count: int, chance: Random) -> None:
    with heart.database.write() as connection:
        dataset = require_dataset(connection, ORG, _DATASET)
        pinned = pin_rules(connection, heart, dataset, published=None)
        schema = dataset.definition.table_schema
        measures = measures_for(pinned.rules, schema)
        for _ in range(count):
            task_id = tasks.submit(
                connection,
                ORG,
                dataset.dataset_id,
                kind=TaskKind.BUILD,
                key=None,
                parameters="{}",
                triggered_by="bench",
                at=heart.clock(),
            )
            _, ticket = tasks.claim(
                connection, ORG, task_id, this_process("bench"), heart.clock(), TaskKind.BUILD
            )
            case = Case(ticket.run_id, dataset, schema, pinned, Findings())
            values = {measure_key(item): _value(item, chance) for item in measures}
            evidence = _evidence(ticket.run_id, dataset.definition, values)
            decide_and_record(connection, heart, case, evidence)


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
