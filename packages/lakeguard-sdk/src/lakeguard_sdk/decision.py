"""Decisions: the gate's answer, with every check explained."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.measure import MeasureValue
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Instant, Noun
from lakeguard_sdk.words import CheckKind, Outcome, Verdict


class CheckResult(Noun):
    """One check and what it came to; ``message`` is the sentence a person reads."""

    kind: CheckKind
    check_id: str
    expression: str
    outcome: Outcome
    message: str
    failed_rows: int | None = None
    scope_rows: int | None = None
    observed: MeasureValue = None
    limit: str | None = None
    waived_by: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Who answers for it, until when and why, where a waiver was in force."""
    fingerprint: str = Field(default="", exclude_if=lambda value: not value)
    """Content hash of the rule as it was judged; of rules alone."""
    parameters: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """What the rule was given besides its columns, each as its expression has it."""
    counted: str = Field(default="", exclude_if=lambda value: not value)
    """Key of the measure that counted the failing rows, where the rule judges rows."""


class Ruling(Noun):
    """The pure result of deciding; a replay gives the same bytes."""

    verdict: Verdict
    reasons: tuple[str, ...]
    checks: tuple[CheckResult, ...]
    semantics: int
    decided_at: Instant
    discard: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether what was staged must be deleted at once: it holds what may not be kept."""


class CaseHashes(Noun):
    """Content hashes of all that a decision looked at."""

    facts: str
    evidence: str | None
    ruleset: str
    policies: str
    history: str


class Decision(Noun):
    """A recorded ruling. Only one that is ALLOWED lets a run move a table."""

    decision_id: str
    run_id: str
    dataset: DatasetName
    dataset_id: str
    ruling: Ruling
    case: CaseHashes

    @property
    def allowed(self) -> bool:
        return self.ruling.verdict is Verdict.ALLOWED
