"""1,000 rules decided on evidence that is ready: what the gate itself takes."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from bench.figures import Figure
from lakeguard.gate.decide import CaseFacts, History, decide
from lakeguard.gate.rules.compile import define_rule, measures_for
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.expressions.measures import (
    AnyMeasure,
    MeasureValue,
    RowCount,
    measure_key,
)
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.types.schema import Column, TableSchema

NAME = "deciding"
COLUMNS = 200
ROWS = 1_000_000
ROUNDS = 50
BAR_MS = 20.0
_CLOCK = datetime(2026, 1, 31, 12, tzinfo=UTC)
_DATASET = DatasetName("silver.wide")
_RULES = (
    "not_null({0})",
    "range({0}, min=0, max=1000) fail_if > 0.1%",
    "mean({0}, min=1, max=999)",
    "unique({0})",
    "completeness({0}, min=99%)",
)


def run() -> list[Figure]:
    schema = TableSchema(columns=tuple(Column(name=f"c{n}", type="long") for n in range(COLUMNS)))
    rules = _rules()
    facts = CaseFacts(dataset=_DATASET, declared=schema)
    evidence = _evidence(schema, rules)
    first = _milliseconds(facts, evidence, rules)
    best = min(_milliseconds(facts, evidence, rules) for _ in range(ROUNDS))
    print(f"{NAME}: {len(rules):,} rules, {len(evidence.measures):,} measures", flush=True)
    return [
        Figure("deciding 1,000 rules, the first time", first, "ms"),
        Figure("deciding 1,000 rules on ready evidence", best, "ms", BAR_MS),
    ]


def _rules() -> tuple[RuleDefinition, ...]:
    return tuple(
        define_rule(parse_rule(text.format(f"c{n}")), rule_id=None, severity=None)
        for n in range(COLUMNS)
        for text in _RULES
    )


def _evidence(schema: TableSchema, rules: tuple[RuleDefinition, ...]) -> Evidence:
    measures = measures_for(rules, schema)
    return Evidence(
        run_id="run_1",
        dataset=_DATASET,
        table_schema=schema,
        rows=ROWS,
        table_rows=ROWS,
        files=(StagedFile(path="a.parquet", size=1, rows=ROWS, modified_ms=1, stats="{}"),),
        removes=(),
        base_commit=None,
        measures={measure_key(measure): _value(measure) for measure in measures},
        inputs=(),
        build_hash="sha256:0",
        engine="none",
    )


def _value(measure: AnyMeasure) -> MeasureValue:
    if isinstance(measure, RowCount):
        return ROWS
    return 500 if measure.measure == "aggregate" else 0


def _milliseconds(facts: CaseFacts, evidence: Evidence, rules: tuple[RuleDefinition, ...]) -> float:
    start = time.perf_counter()
    ruling = decide(facts, evidence, rules, (), History(), _CLOCK)
    spent = time.perf_counter() - start
    if len(ruling.checks) <= len(rules) or ruling.reasons:
        raise AssertionError(f"not decided: {ruling.reasons[:3]}")
    return spent * 1000
