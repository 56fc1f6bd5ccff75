"""From the text of a rule to what it comes to, over the measures of one engine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from lakeguard.gate.evaluation.case import EarlierVersion, History
from lakeguard.gate.evaluation.evaluate import EvaluationContext, Unmeasured, evaluate
from lakeguard.gate.rules.compile import CompiledRule, compile_rule, define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.registry.macros import Macros
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.measures import (
    AnyMeasure,
    DistinctValues,
    RowCount,
    measure_key,
)
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from openlaketx.measure import Measured, Subject, take_measures
from tests.property.measure.macro_oracle import UNASKED, Data, Expected, Oracle
from tests.property.measure.macro_rows import SCHEMA
from tests.property.measure.staging import staged, staged_beside

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Compiled = list[tuple[RuleDefinition, CompiledRule]]


@cache
def compiled(call: str) -> Compiled:
    """The rules that a text stands for: its own, or those of the catalogue."""
    expanded = Macros().expand(call, None)
    texts = [call] if expanded is None else [item.text for item in expanded]
    found = [define_rule(parse_rule(text), rule_id=None, severity=None) for text in texts]
    return [(definition, compile_rule(definition, SCHEMA)) for definition in found]


def questions(calls: Iterable[str]) -> list[AnyMeasure]:
    """All that the rules ask, each once."""
    asked = [m for call in calls for _, rule in compiled(call) for m in rule.measures]
    return list(dict.fromkeys(asked))


def laid_out(folder: Path, data: Data) -> Subject:
    return staged_beside(folder, data.batch, data.existing, data.others, SCHEMA)


def earlier(folder: Path, data: Data, calls: Iterable[str]) -> History:
    """What the last version had, measured with DuckDB, and the row counts of those before it."""
    listed = [m for m in questions(calls) if isinstance(m, DistinctValues)]
    before = take_measures(listed, staged(folder, data.existing, [], SCHEMA)).values
    rows = measure_key(RowCount())
    values_of = [{rows: count} | ({} if age else before) for age, count in enumerate(data.counts)]
    versions = [
        EarlierVersion(version=90 - age, at=_EPOCH, values=values)
        for age, values in enumerate(values_of)
    ]
    return History(versions=tuple(versions))


def judge(
    call: str, measured: Measured, subject: Subject, data: Data, history: History
) -> list[CheckResult | str]:
    """The result of every rule that the text stands for, or why there is none."""
    evidence = Evidence(
        run_id="run_1",
        dataset=DatasetName("silver.t"),
        schema=SCHEMA,
        rows=len(data.batch),
        table_rows=len(data.table),
        files=_partitioned(subject),
        removes=(),
        base_commit=None,
        measures=measured.values,
        unmeasured=measured.unmeasured,
        inputs=(),
        build_hash="",
        engine=measured.engine,
    )
    grounds = EvaluationContext(evidence, history, _EPOCH + timedelta(microseconds=data.clock))
    found: list[CheckResult | str] = []
    for definition, rule in compiled(call):
        try:
            found.append(evaluate(definition, rule, grounds))
        except Unmeasured as reason:
            found.append(str(reason))
    return found


def _partitioned(subject: Subject) -> tuple[StagedFile, ...]:
    """The files as if the first were of one partition, and the second of another."""
    named = zip(subject.batch.files, "ab", strict=False)
    return tuple(file.model_copy(update={"partition": {"k": part}}) for file, part in named)


def disagreements(
    cases: Mapping[str, Oracle], found: Mapping[str, list[list[CheckResult | str]]], data: Data
) -> list[Any]:
    """Rules of which an engine says something else than the oracle."""
    wrong = []
    for call, oracle in cases.items():
        reported = oracle(data)
        if not all(_agree(results, reported) for results in found[call]):
            wrong.append((call, reported, [list(map(_short, results)) for results in found[call]]))
    return wrong


def _agree(results: list[CheckResult | str], expected: list[Expected]) -> bool:
    return len(results) == len(expected) and all(
        isinstance(result, CheckResult) and _same(result, wanted)
        for result, wanted in zip(results, expected, strict=True)
    )


def _same(result: CheckResult, expected: Expected) -> bool:
    holds = (result.outcome is Outcome.PASS) == expected.holds
    return (
        holds and result.failed_rows == expected.failed and _equal(result.observed, expected.value)
    )


def _equal(found: Any, wanted: Any) -> bool:
    """Numbers but for the last digits of a double; all else exactly."""
    if wanted is UNASKED:
        return True
    if found is None or wanted is None or isinstance(wanted, str):
        return bool(found == wanted)
    one, other = float(found), float(wanted)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if not isinstance(wanted, float):
        return Decimal(str(found)) == wanted
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def _short(result: CheckResult | str) -> Any:
    if isinstance(result, str):
        return result
    return result.outcome.value, result.failed_rows, result.observed
