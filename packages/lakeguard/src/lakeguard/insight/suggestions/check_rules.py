"""Checks drafts against measured rows; invalid or violated ones are dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lakeguard.gate.evaluation.case import History
from lakeguard.gate.evaluation.evaluate import EvaluationContext, Unmeasured, evaluate
from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.rules.compile import CompiledRule, compile_text, define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.gate.typecheck.checks import history_depth
from lakeguard.gate.typecheck.scalars import NotAValue
from lakeguard.insight.suggestions.suggestion import Draft, Suggestion, VersionResult
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.core.frozen_model import Instant
from lakeguard_sdk.expressions.measures import Measure, MeasureValue, measure_key
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.types.schema import TableSchema


@dataclass(frozen=True)
class Trial:
    """A draft compiled for a schema."""

    draft: Draft
    definition: RuleDefinition
    compiled: CompiledRule


def tried(found: Iterable[Draft], schema: TableSchema) -> list[Trial]:
    """Drafts that compile and can fail."""
    trials = []
    for draft in found:
        try:
            compiled = compile_text(draft.rule, schema)
            rule = define_rule(parse_rule(draft.rule), rule_id=None, severity=draft.severity)
        except GrammarError:
            continue
        trials.append(Trial(draft, rule, compiled))
    return trials


def required_measures(trials: Sequence[Trial]) -> tuple[Measure, ...]:
    """Measures of all drafts, without duplicates."""
    wanted = {measure_key(item): item for trial in trials for item in trial.compiled.measures}
    return tuple(wanted[key] for key in sorted(wanted))


@dataclass(frozen=True)
class Answers:
    """Measures of a version, and its publication time."""

    version: int
    schema: TableSchema
    rows: int
    values: Mapping[str, MeasureValue]
    unmeasured: Mapping[str, str]
    at: Instant
    history: History = field(default_factory=History)
    """Measures of earlier versions, for rules that use history."""


def result_on(trial: Trial, answers: Answers) -> VersionResult:
    """Evaluate the rule; ERROR with the reason if impossible, NOT_EVALUATED if there is nothing to
    compare with."""
    try:
        result = evaluate(trial.definition, trial.compiled, _grounds(answers))
    except (Unmeasured, NotAValue) as error:
        return VersionResult(version=answers.version, outcome=Outcome.ERROR, message=str(error))
    if history_depth(trial.compiled.check) and result.observed is None:
        # the gate passes it, which is no evidence for the rule
        skipped = Outcome.NOT_EVALUATED
        return VersionResult(version=answers.version, outcome=skipped, message="not compared")
    return VersionResult(
        version=answers.version,
        outcome=result.outcome,
        message=result.message,
        failed_rows=result.failed_rows,
    )


def passing(trials: Sequence[Trial], answers: Answers) -> list[tuple[Trial, VersionResult]]:
    """Drafts that hold, with their counts. A foreign key replaces other value rules."""
    found = [(trial, result_on(trial, answers)) for trial in trials]
    holding = [(trial, result) for trial, result in found if result.outcome is Outcome.PASS]
    referring = {
        trial.compiled.rule.columns
        for trial, _ in holding
        if trial.compiled.rule.rule_type == "foreign_key"
    }
    return [
        (trial, result)
        for trial, result in holding
        if trial.draft.about != "values" or trial.compiled.rule.columns not in referring
    ]


def _grounds(answers: Answers) -> EvaluationContext:
    evidence = Evidence(
        run_id="",
        dataset=DatasetName("bronze.seen"),
        table_schema=answers.schema,
        rows=answers.rows,
        table_rows=answers.rows,
        files=(),
        removes=(),
        base_commit=None,
        measures=dict(answers.values),
        unmeasured=dict(answers.unmeasured),
        inputs=(),
        build_hash="",
        engine="",
    )
    return EvaluationContext(evidence, answers.history, answers.at)


# Ranking of suggestions.

SURE_ENOUGH = 0.7
_DOUBT = 10
"""Prior weight in rows: with as many rows in favour, half the maximum likelihood."""
_NO_EVIDENCE = (Outcome.ERROR, Outcome.NOT_EVALUATED)


def suggestion(draft: Draft, results: Sequence[VersionResult] = ()) -> Suggestion:
    return Suggestion(
        rule=draft.rule,
        column=draft.column,
        about=draft.about,
        severity=draft.severity,
        why=draft.why,
        support=draft.support,
        confidence=_confidence(draft, results),
        mutation=draft.mutation,
        results=tuple(results),
    )


def ranked(found: Iterable[Suggestion], least: float = SURE_ENOUGH) -> list[Suggestion]:
    """Most likely first; those below ``least`` are dropped."""
    chosen = [item for item in found if item.confidence >= least]
    return sorted(chosen, key=lambda item: (-item.confidence, item.rule))


def _confidence(draft: Draft, results: Sequence[VersionResult]) -> float:
    """More rows increase the likelihood; a version that violates the rule reduces it."""
    judged = [item for item in results if item.outcome not in _NO_EVIDENCE]
    passed = sum(item.outcome is Outcome.PASS for item in judged)
    share = passed / len(judged) if judged else 1.0
    believed = draft.support / (draft.support + _DOUBT)
    return round(draft.strength * believed * share, 2)
