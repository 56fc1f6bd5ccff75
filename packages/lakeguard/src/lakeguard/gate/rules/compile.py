"""Compiles rules against a schema into checks and measures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.grammar.rule import (
    ParsedRule,
    Rule,
    Threshold,
    given_texts,
    rule_text,
)
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rules.idle_rules import refuse_idle
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.rules.worst_values import without_worst_values
from lakeguard.gate.typecheck.checks import (
    Check,
    GroupCheck,
    RowCheck,
    history_depth,
    measure_ref,
)
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.expressions.measures import (
    CountIf,
    DuplicateRows,
    JsonFaults,
    Measure,
    RowCount,
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
