"""Rules that can quarantine rows: their measures identify single rows of the batch."""

from __future__ import annotations

from dataclasses import replace

from lakeguard.gate.grammar.grammar_error import GrammarError, Span
from lakeguard.gate.rules.compile import compile_parsed, compiler_for, identifies_rows
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.typecheck.checks import RowCheck
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.quarantine import QuarantineRule
from lakeguard_sdk.types.schema import TableSchema


def check_quarantine(text: str, batch: TableSchema, *, column: str | None = None) -> None:
    """Refuses, with the span, a quarantine rule that uses a column written by the load, which does
    not exist yet when rows are quarantined."""
    read = read_rule(text, column=column)
    if read.rule.on_fail != "quarantine":
        return
    try:
        compile_parsed(replace(read, fresh=True), batch)
    except GrammarError as error:
        if error.kind != "column":
            raise
        message = (
            f"{error.word} is written by the load, after rows are quarantined: the rule blocks"
        )
        raise GrammarError(
            message, Span(error.offset, error.length), kind="meaning", word=error.word
        ) from error


def quarantine_rules(
    rules: tuple[RuleDefinition, ...], batch: TableSchema
) -> tuple[QuarantineRule, ...]:
    """Active rules whose failing rows are quarantined, ordered by id.

    A rule that cannot quarantine rows of the batch is omitted: it blocks.
    """
    compile_definition = compiler_for(batch)
    found = []
    for definition in sorted(rules, key=lambda rule: rule.rule_id):
        try:
            compiled = compile_definition(definition)
        except GrammarError:
            continue
        judged = compiled.check
        if not definition.active or compiled.rule.on_fail != "quarantine":
            continue
        if isinstance(judged, RowCheck) and identifies_rows(judged):
            found.append(
                QuarantineRule(
                    rule_id=definition.rule_id,
                    expression=definition.expression,
                    failed=judged.failed.measure,
                    scope=judged.scope.measure,
                )
            )
    return tuple(found)
