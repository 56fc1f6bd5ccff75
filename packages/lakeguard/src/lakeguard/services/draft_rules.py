"""Draft rules from a preview of files: every inspected row satisfies them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.insight.suggestions import (
    Answers,
    ProfileFacts,
    Suggestion,
    Trial,
    drafts,
    passing,
    ranked,
    required_measures,
    suggestion,
    tried,
)
from lakeguard_sdk.client import inspect_source
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.source_preview import SourcePreview
from lakeguard_sdk.types.schema import Column, TableSchema

KnownRules = Callable[[SourcePreview], Iterable[RuleDefinition]]
"""Rules that are proposed in any case."""


def inspect_and_suggest(
    pattern: str, root: str, known: KnownRules, at: datetime, *, whole: bool = False
) -> tuple[SourcePreview, list[Suggestion]]:
    """The preview, and rules it suggests besides ``known`` ones, highest confidence first."""

    def ask(sketch: SourcePreview) -> tuple[Measure, ...]:
        return required_measures(_trials(sketch, known, at))

    sketch = inspect_source(pattern, root, whole=whole, ask=ask)
    schema = _schema(sketch)
    answers = Answers(
        version=0,
        schema=schema,
        rows=sketch.rows,
        values=sketch.measured,
        unmeasured=sketch.unmeasured,
        at=at,
    )
    found = passing(_trials(sketch, known, at), answers)
    return _bare(sketch), ranked(suggestion(trial.draft) for trial, _ in found)


def defined(item: Suggestion, severity: Severity | None = None) -> RuleDefinition:
    """The suggestion as a rule of a definition."""
    return define_rule(parse_rule(item.rule), rule_id=None, severity=severity or item.severity)


def _trials(sketch: SourcePreview, known: KnownRules, at: datetime) -> list[Trial]:
    facts = ProfileFacts(
        table_schema=_schema(sketch),
        rows=sketch.rows,
        columns=tuple(c.profile for c in sketch.columns if c.profile is not None),
        at=at,
        keys=(sketch.keys,) if sketch.keys else (),
        rules=tuple(known(sketch)),
    )
    return tried(drafts(facts), facts.table_schema)


def _bare(sketch: SourcePreview) -> SourcePreview:
    """Without row values; the suggestions contain what matters."""
    columns = tuple(column.model_copy(update={"profile": None}) for column in sketch.columns)
    return sketch.model_copy(update={"columns": columns, "measured": {}, "unmeasured": {}})


def _schema(sketch: SourcePreview) -> TableSchema:
    return TableSchema(
        columns=tuple(Column(name=column.name, type=column.type) for column in sketch.columns)
    )
