"""Redacts check messages: no values of hidden columns."""

from __future__ import annotations

from collections.abc import Collection

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.grammar.rule import Rule
from lakeguard.gate.grammar.syntax_tree import columns_in
from lakeguard.gate.rules.parse import read_rule
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.model.decision import CheckResult, Ruling

_WHY = "details are hidden because the rule uses a hidden column"
_OUTCOMES = {Outcome.PASS: "holds", Outcome.ERROR: "could not be evaluated"}


def redacted_message(check: CheckResult, hidden: Collection[str]) -> str:
    """The check's message, reduced to row counts where its rule uses a hidden column or cannot be
    parsed."""
    if not hidden or not gives_away(check, hidden):
        return check.message
    if check.failed_rows is None or check.scope_rows is None:
        return f"{_OUTCOMES.get(check.outcome, 'does not hold')}; {_WHY}"
    return f"{check.failed_rows:,} of {check.scope_rows:,} rows"


def redacted_reasons(ruling: Ruling, hidden: Collection[str]) -> tuple[str, ...]:
    """The ruling's reasons, each with its message redacted."""
    redacted = {
        f"{check.check_id}: {check.message}": f"{check.check_id}: {redacted_message(check, hidden)}"
        for check in ruling.checks
    }
    return tuple(redacted.get(reason, reason) for reason in ruling.reasons)


def columns_named(rule: Rule) -> frozenset[str]:
    """Every column that a rule names, in lower case: arguments, condition, ``where`` and ``by``."""
    narrowed = () if rule.where is None else columns_in(rule.where)
    named = (*rule.columns, *rule.condition_columns, *rule.by, *narrowed)
    return frozenset(name.casefold() for name in named)


def gives_away(check: CheckResult, hidden: Collection[str]) -> bool:
    """Whether message or observed value may be, or contain, a hidden value."""
    if check.kind is CheckKind.SCHEMA:
        # an evidence error may quote an engine message, which may contain values
        return check.outcome is Outcome.ERROR
    if check.kind is not CheckKind.RULE:
        return False
    try:
        named = columns_named(read_rule(check.expression).rule)
    except GrammarError:
        return True
    folded = {name.casefold() for name in hidden}
    return any(folded & _roots(name) for name in named)


def _roots(column: str) -> set[str]:
    """The column itself and every column of which it could be a nested field."""
    parts = column.split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
