"""Rules over a schema: defined, compiled, and what they ask of the data together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.grammar.rule import (
    ReadRule,
    Rule,
    Threshold,
    given_texts,
    rule_text,
)
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.rules.worst_values import without_extremes
from lakeguard.gate.typecheck.checks import (
    GroupsJudged,
    Judgement,
    RowsJudged,
    ask,
    looks_back,
)
from lakeguard.gate.typecheck.constant_conditions import settled
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
    "compile_read",
    "compile_rule",
    "compile_text",
    "compiler_for",
    "default_rule_id",
    "define_rule",
    "looked_back_at",
    "measures_for",
    "points_at_rows",
]

_POINTS_AT_ROWS = (CountIf, JsonFaults, UnmatchedRows, DuplicateRows)


@dataclass(frozen=True)
class CompiledRule:
    """A rule over one schema: what it measures and what the answers are held against."""

    rule: Rule
    judgement: Judgement
    fingerprint: str = ""
    """Content hash of its definition, where it has one."""

    @cached_property
    def told(self) -> dict[str, Any]:
        """What a result says of the rule that it is of; the same for every decision."""
        judged = self.judgement
        counted = judged.failed.key if isinstance(judged, RowsJudged | GroupsJudged) else ""
        given = given_texts(self.rule)
        return {"fingerprint": self.fingerprint, "parameters": given, "counted": counted}

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(asked.measure for asked in self.judgement.asked)


def default_rule_id(rule: Rule) -> str:
    """``<type>.<columns>``, as in ``unique.flight_key``; the type alone where it has none."""
    return ".".join((rule.rule_type, *(rule.columns or rule.said_columns)))


def define_rule(
    rule: Rule, *, rule_id: str | None, severity: Severity | None, active: bool = True
) -> RuleDefinition:
    """The rule as a definition: canonical text, and the severity that its limits imply.

    GrammarError, with the place in the canonical text, where severity and limits contradict
    each other or the rule is none that the grammar could say.
    """
    text = rule_text(rule)
    read = read_rule(text)
    if read.rule != rule:
        raise read.error("type", "the rule cannot be written down as it is")
    return RuleDefinition(
        rule_id=rule_id or default_rule_id(rule),
        rule_type=rule.rule_type.upper(),
        expression=text,
        severity=_severity(read, severity),
        active=active,
    )


def compile_rule(definition: RuleDefinition, schema: TableSchema) -> CompiledRule:
    """The definition over a schema; GrammarError, with the place in its expression, if it
    names no column, means nothing there, or contradicts its own type or severity."""
    return compiler_for(schema)(definition)


def compile_text(text: str, schema: TableSchema, *, column: str | None = None) -> CompiledRule:
    """Like ``compile_rule`` for a text as its author wrote it: places are places in that text,
    and conditions that are the same for every row are refused."""
    return compile_read(replace(read_rule(text, column=column), fresh=True), schema)


def measures_for(
    rules: tuple[RuleDefinition, ...], schema: TableSchema, tagged: Collection[str] = ()
) -> tuple[Measure, ...]:
    """Every measure that the active rules need, once, in an order that no order of rules
    changes; the batch's row count is the first. A rule that does not compile asks for
    nothing here: the decision blocks on it. Of columns that are ``tagged`` no extremes are
    asked only to name the worst value."""
    batch = ask(RowCount())
    asked = {
        item.key: item.measure
        for judgement in _judgements(rules, schema)
        for item in without_extremes(judgement, tagged).asked
    }
    asked.pop(batch.key, None)
    return (batch.measure, *(asked[key] for key in sorted(asked)))


def looked_back_at(
    rules: tuple[RuleDefinition, ...], schema: TableSchema
) -> tuple[frozenset[str], int]:
    """The measures whose earlier values the active rules are held against, and in how many
    versions at most."""
    keys: set[str] = set()
    versions = 0
    for judgement in _judgements(rules, schema):
        if found := looks_back(judgement):
            keys.update(asked.key for asked in judgement.asked)
            versions = max(versions, found)
    return frozenset(keys), versions


def _judgements(rules: tuple[RuleDefinition, ...], schema: TableSchema) -> Iterator[Judgement]:
    """Of the active rules that compile."""
    compile_definition = compiler_for(schema)
    for definition in rules:
        if definition.active:
            with suppress(GrammarError):
                yield compile_definition(definition).judgement


@lru_cache(maxsize=64)
def compiler_for(schema: TableSchema) -> Callable[[RuleDefinition], CompiledRule]:
    """``compile_rule`` for many rules over one schema, which is then hashed but once."""

    @lru_cache(maxsize=8192)
    def compile_definition(definition: RuleDefinition) -> CompiledRule:
        read = read_rule(definition.expression)
        if definition.rule_type != read.rule.rule_type.upper():
            raise read.error("type", f"the rule is stored as {definition.rule_type}")
        _severity(read, definition.severity)
        return replace(compile_read(read, schema), fingerprint=definition.content_hash())

    return compile_definition


def points_at_rows(judgement: Judgement) -> bool:
    """Whether it identifies single failing rows of the batch, which can be quarantined."""
    if not isinstance(judgement, RowsJudged):
        return False
    return isinstance(judgement.failed.measure, _POINTS_AT_ROWS)


def compile_read(read: ReadRule, schema: TableSchema) -> CompiledRule:
    """What was read, over a schema; GrammarError where it means nothing there."""
    rule_type = RULE_TYPES.find(read.rule.rule_type)
    if rule_type is None:
        raise read.error("type", "unknown rule type", kind="rule_type")
    columns = Resolver(read, schema)
    if not rule_type.nested:
        columns.refuse_nested()
    judgement = rule_type.compile(read, columns)
    if read.fresh and read.rule.on_fail == "quarantine" and not points_at_rows(judgement):
        message = f"{rule_type.name} points at no single rows to quarantine: it blocks"
        raise read.error("on_fail", message)
    if read.fresh and _never_fails(judgement):
        raise read.error(
            "type", "every value that its column can have passes, so that it says nothing"
        )
    return CompiledRule(read.rule, judgement)


def _never_fails(judgement: Judgement) -> bool:
    failed = judgement.failed.measure if isinstance(judgement, RowsJudged) else None
    return isinstance(failed, CountIf) and settled(failed.condition) is False


def _severity(read: ReadRule, given: Severity | None) -> Severity:
    """Limits are the whole truth: ``fail_if`` is FAIL, ``warn_if`` alone WARN."""
    if read.rule.fail_if is not None:
        if given is Severity.WARN:
            raise read.error("fail_if", "severity WARN contradicts fail_if: drop one of them")
        return Severity.FAIL
    if read.rule.warn_if is not None:
        if given is Severity.FAIL:
            raise read.error("warn_if", "severity FAIL contradicts warn_if alone: write fail_if")
        return Severity.WARN
    return given or Severity.FAIL
