"""Compiles rules against a schema into checks and measures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.grammar.literals import number_text
from lakeguard.gate.grammar.rule import (
    ParsedRule,
    Rule,
    Threshold,
    given_texts,
    rule_text,
)
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.rules.worst_values import without_worst_values
from lakeguard.gate.typecheck.aggregate_bounds import aggregate_interval, measure_interval
from lakeguard.gate.typecheck.checks import (
    HIGHEST_INDEX,
    AgeCheck,
    Bounds,
    Check,
    DistributionCheck,
    FileCheck,
    FormulaCheck,
    GroupCheck,
    MostCommonCheck,
    RowCheck,
    SchemaCheck,
    SetDriftCheck,
    ShareCheck,
    ShareGrowthCheck,
    ValueCheck,
    history_depth,
    measure_ref,
)
from lakeguard.gate.typecheck.constant_conditions import never_true
from lakeguard.gate.typecheck.intervals import Interval, compare_intervals
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard.gate.typecheck.value_bounds import interval_of
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Comparison,
    Condition,
    IsNull,
    Not,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    CountIf,
    DistinctCount,
    DistinctValues,
    Distribution,
    DuplicateRows,
    GroupBreach,
    IntervalFaults,
    JsonFaults,
    Measure,
    MostCommonRows,
    OutOfOrder,
    Quantile,
    RowCount,
    SequenceGaps,
    UnmatchedRows,
)
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.types.schema import TableSchema

__all__ = [
    "CompiledRule",
    "Rule",
    "Threshold",
    "compile_parsed",
    "compile_rule",
    "compile_text",
    "compiler_for",
    "default_rule_id",
    "define_rule",
    "history_measures",
    "identifies_rows",
    "measures_for",
]

_IDENTIFIES_ROWS = (CountIf, JsonFaults, UnmatchedRows, DuplicateRows)


@dataclass(frozen=True)
class CompiledRule:
    """A rule compiled against one schema: its check and measures."""

    rule: Rule
    check: Check
    fingerprint: str = ""
    """Content hash of its definition, if it has one."""

    @cached_property
    def result_fields(self) -> dict[str, Any]:
        """Fields of every check result of this rule."""
        judged = self.check
        counted = judged.failed.key if isinstance(judged, RowCheck | GroupCheck) else ""
        columns = self.rule.columns
        return {
            "fingerprint": self.fingerprint,
            "parameters": given_texts(self.rule),
            "counted": counted,
            "column": columns[0] if len(columns) == 1 else "",
        }

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(ref.measure for ref in self.check.measures)


def default_rule_id(rule: Rule) -> str:
    """``<type>.<columns>``, as in ``unique.flight_key``; only the type if there are no columns."""
    return ".".join((rule.rule_type, *(rule.columns or rule.condition_columns)))


def define_rule(
    rule: Rule, *, rule_id: str | None, severity: Severity | None, active: bool = True
) -> RuleDefinition:
    """Define a rule: canonical text, and the severity implied by its limits.

    GrammarError, with the span in the canonical text, if severity and limits contradict each other
    or the rule cannot be written in the grammar.
    """
    text = rule_text(rule)
    read = read_rule(text)
    if read.rule != rule:
        raise read.error("type", "the rule has no text form")
    return RuleDefinition(
        rule_id=rule_id or default_rule_id(rule),
        rule_type=rule.rule_type.upper(),
        expression=text,
        severity=_severity(read, severity),
        active=active,
    )


def compile_rule(definition: RuleDefinition, schema: TableSchema) -> CompiledRule:
    """Compile a definition against a schema. GrammarError, with the span in its expression, for
    unknown columns, rules that are meaningless for the schema, and a contradictory type or
    severity."""
    return compiler_for(schema)(definition)


def compile_text(text: str, schema: TableSchema, *, column: str | None = None) -> CompiledRule:
    """Like ``compile_rule`` for a text being authored: spans refer to that text, and constant
    conditions are refused."""
    return compile_parsed(replace(read_rule(text, column=column), fresh=True), schema)


def measures_for(
    rules: tuple[RuleDefinition, ...], schema: TableSchema, tagged: Collection[str] = ()
) -> tuple[Measure, ...]:
    """All measures of the active rules, without duplicates and independent of rule order; the row
    count of the batch comes first.

    Rules that do not compile are skipped: the decision blocks on them. Extremes that only name the
    worst value are omitted for ``tagged`` columns.
    """
    batch = measure_ref(RowCount())
    needed = {
        item.key: item.measure
        for check in _checks(rules, schema)
        for item in without_worst_values(check, tagged).measures
    }
    needed.pop(batch.key, None)
    return (batch.measure, *(needed[key] for key in sorted(needed)))


def history_measures(
    rules: tuple[RuleDefinition, ...], schema: TableSchema
) -> tuple[frozenset[str], int]:
    """Keys of the measures that active rules compare with history, and the maximum number of
    versions."""
    keys: set[str] = set()
    versions = 0
    for check in _checks(rules, schema):
        if found := history_depth(check):
            keys.update(ref.key for ref in check.measures)
            versions = max(versions, found)
    return frozenset(keys), versions


def _checks(rules: tuple[RuleDefinition, ...], schema: TableSchema) -> Iterator[Check]:
    """Checks of the active rules that compile."""
    compile_definition = compiler_for(schema)
    for definition in rules:
        if definition.active:
            with suppress(GrammarError):
                yield compile_definition(definition).check


@lru_cache(maxsize=64)
def compiler_for(schema: TableSchema) -> Callable[[RuleDefinition], CompiledRule]:
    """``compile_rule`` for many rules over one schema, so that it is hashed only once."""

    @lru_cache(maxsize=8192)
    def compile_definition(definition: RuleDefinition) -> CompiledRule:
        read = read_rule(definition.expression)
        if definition.rule_type != read.rule.rule_type.upper():
            raise read.error("type", f"the rule is stored as {definition.rule_type}")
        _severity(read, definition.severity)
        return replace(compile_parsed(read, schema), fingerprint=definition.content_hash())

    return compile_definition


def identifies_rows(check: Check) -> bool:
    """Whether the check identifies single failing rows, which can be quarantined."""
    if not isinstance(check, RowCheck):
        return False
    return isinstance(check.failed.measure, _IDENTIFIES_ROWS)


def compile_parsed(read: ParsedRule, schema: TableSchema) -> CompiledRule:
    """Compile a parsed rule against a schema; GrammarError if it is meaningless there."""
    rule_type = RULE_TYPES.find(read.rule.rule_type)
    if rule_type is None:
        raise read.error("type", "unknown rule type", kind="rule_type")
    columns = Resolver(read, schema)
    if not rule_type.nested:
        columns.refuse_nested()
    check = rule_type.compile(read, columns)
    if read.fresh and read.rule.on_fail == "quarantine" and not identifies_rows(check):
        message = (
            f"{rule_type.name} does not identify single rows and cannot quarantine: the rule blocks"
        )
        raise read.error("on_fail", message)
    if read.fresh:
        refuse_idle(read, check)
    return CompiledRule(read.rule, check)


def _severity(read: ParsedRule, given: Severity | None) -> Severity:
    """If limits are set, only they decide: ``fail_if`` is FAIL, ``warn_if`` alone WARN."""
    if read.rule.fail_if is not None:
        if given is Severity.WARN:
            raise read.error("fail_if", "severity WARN contradicts fail_if: remove one of them")
        return Severity.FAIL
    if read.rule.warn_if is not None:
        if given is Severity.FAIL:
            raise read.error("warn_if", "severity FAIL contradicts warn_if alone: use fail_if")
        return Severity.WARN
    return given or Severity.FAIL


# Rules that can never fail, whatever the data: provable from the types of their columns.

_SHARES = Interval(Decimal(0), Decimal(100))
_COUNTS = Interval(Decimal(0), None)
_SAME = "this is the same whatever the data"


def refuse_idle(read: ParsedRule, check: Check) -> None:
    """Refuses, with the span, a rule that no data can fail or a limit that no data can reach."""
    if isinstance(check, RowCheck):
        _refuse_idle_rows(read, check.failed.measure)
        return
    _refuse_idle_where(read, check)
    if isinstance(check, DistributionCheck | SetDriftCheck):
        _refuse_idle_drift(read, check)
        return
    if isinstance(check, FileCheck | SchemaCheck):
        if check.bounds is not None:
            _refuse_idle_bounds(read, check.bounds, _COUNTS)
        return
    reach = _reach(check)
    if reach is None:
        return
    if not read.rule.by:
        _refuse_idle_thresholds(read, reach)
    if (isinstance(check, ValueCheck) and check.past is None) or isinstance(check, GroupCheck):
        _refuse_idle_bounds(read, check.bounds, reach)


def _refuse_idle_rows(read: ParsedRule, failed: Measure) -> None:
    if isinstance(failed, SequenceGaps):
        low, high = interval_of(failed.column)
        if low is not None and high is not None and failed.step >= high - low:
            message = "this always holds: no two values of the column are further apart"
            raise read.error("parameter step", message)
    if isinstance(failed, CountIf) and never_true(failed.condition):
        raise read.error("type", "this always holds: every value of the column passes")
    if _selects_nothing(failed):
        raise read.error("type", "this always holds: no row that where selects can fail")


def _refuse_idle_drift(read: ParsedRule, check: DistributionCheck | SetDriftCheck) -> None:
    if isinstance(check, DistributionCheck):
        if check.most >= HIGHEST_INDEX:
            message = f"this always holds: the index is below {number_text(HIGHEST_INDEX)}"
            raise read.error("parameter max", message)
        return
    listed = check.values.measure
    if not isinstance(listed, DistinctValues):
        return
    possible = measure_interval(DistinctCount(columns=(listed.column,))).high
    most = min(Decimal(listed.most), possible or Decimal(listed.most))
    given = {"new": check.new, "gone": check.gone}
    limits = {name: limit for name, limit in given.items() if limit is not None}
    if all(limit >= most for limit in limits.values()):
        message = f"this always holds: at most {number_text(most)} values are compared"
        raise read.error(f"parameter {next(iter(limits))}", message)


def _refuse_idle_where(read: ParsedRule, check: Check) -> None:
    """Refuses a ``where`` that leaves no choice of rows to count."""
    match check:
        case MostCommonCheck(share=share):
            _refuse_idle_where(read, share)
        case ShareCheck(part=part) | ShareGrowthCheck(part=part):
            if _selects_nothing(part.measure):
                raise read.error("type", f"{_SAME}: no row that where selects counts")
            if _selects_only_counted(part.measure):
                raise read.error("type", f"{_SAME}: every row that where selects counts")
        case ValueCheck() | AgeCheck() | FormulaCheck() | SetDriftCheck() | DistributionCheck():
            if check.measures and all(_selects_nothing(ref.measure) for ref in check.measures):
                raise read.error("type", f"{_SAME}: no row that where selects counts")


def _selects_only_counted(measure: Measure) -> bool:
    if not isinstance(measure, CountIf) or measure.where is None:
        return False
    return never_true(And(items=(measure.where, Not(item=measure.condition))))


def _selects_nothing(measure: Measure) -> bool:
    """Whether ``where`` selects no row that the measure counts."""
    where = getattr(measure, "where", None)
    if where is None:
        return False
    return never_true(And(items=(where, *_counted(measure))))


def _counted(measure: Measure) -> Iterator[Condition]:
    """Conditions of every counted row. Rows with a NULL key or value do not count."""
    columns: tuple[ColumnRef, ...] = ()
    match measure:
        case CountIf(condition=condition):
            yield condition
        case DuplicateRows() | UnmatchedRows() | DistinctCount() | MostCommonRows():
            columns = measure.columns
        case JsonFaults() | SequenceGaps() | DistinctValues() | Distribution():
            columns = (measure.column,)
        case Aggregate(column=ColumnRef() as column) | Quantile(column=column):
            columns = (column,)
        case OutOfOrder():
            columns = (measure.column, measure.along)
        case IntervalFaults():
            columns = (measure.start,)
    yield from (Not(item=IsNull(of=column)) for column in columns)


def _reach(check: Check) -> Interval | None:
    """The possible values of what the check compares; None if it compares no number."""
    match check:
        case ValueCheck(value=value):
            return measure_interval(value.measure)
        case GroupCheck(failed=failed) if isinstance(failed.measure, GroupBreach):
            rows = isinstance(failed.measure.of, RowCount)  # every group has a row
            return measure_interval(failed.measure.of, 1 if rows else 0)
        case FormulaCheck(formula=formula, measures=measures):
            return aggregate_interval(formula, [ref.measure for ref in measures], 0)
        case ShareCheck():
            return _SHARES
    return None


def _refuse_idle_thresholds(read: ParsedRule, reach: Interval) -> None:
    for clause in ("warn_if", "fail_if"):
        threshold = getattr(read.rule, clause)
        if threshold is None:
            continue
        at = Interval(threshold.number, threshold.number)
        found = compare_intervals(threshold.op, reach, at)
        if found is not None:
            word = "always" if found else "never"
            raise read.error(clause, f"this is {word} true, whatever the data")


def _refuse_idle_bounds(read: ParsedRule, bounds: Bounds, reach: Interval) -> None:
    """Bounds that exclude no value; a missing value would still fail, but not because of them."""
    ends = {Comparison.GE: bounds.low, Comparison.LE: bounds.high}
    given = {op: end for op, end in ends.items() if isinstance(end, Decimal)}
    if given and all(compare_intervals(op, reach, Interval(end, end)) for op, end in given.items()):
        message = "this always holds: every possible value is within the bounds"
        raise read.error(_first_bound(read.rule), message)


def _first_bound(rule: Rule) -> str:
    return "parameter min" if rule.parameter("min") is not None else "parameter max"
