"""Decisions: the gate's answer, with every check explained."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CheckKind, Outcome, PromotionState, Verdict
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.expressions.measures import MeasureValue


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


# The promotion states of a dataset on its way to a layer, and which of them may follow which.

_S = PromotionState
_ANSWERS = frozenset({_S.ELIGIBLE, _S.BLOCKED})
_NOTHING: frozenset[PromotionState] = frozenset()


class Step(StrEnum):
    """What leads from one state to the next."""

    REGISTRATION = "registration"
    """The dataset, or the layer that it is built from, is new; before it stands what was said of
    that way."""
    EVALUATION = "evaluation"
    """A decision answers; before it stands what that decision said itself, and not what others
    left: two runs of a dataset may be under way at once."""
    MOVE = "move"
    """What a decision allowed becomes visible; before it stands the same."""


MAY_FOLLOW: Mapping[Step, Mapping[PromotionState | None, frozenset[PromotionState]]] = {
    Step.REGISTRATION: {
        None: frozenset({_S.REGISTERED}),
        **dict.fromkeys(_S, _NOTHING),
    },
    Step.EVALUATION: {
        None: _ANSWERS,
        **dict.fromkeys(_S, _NOTHING),
    },
    Step.MOVE: {
        **dict.fromkeys((None, *_S), _NOTHING),
        _S.ELIGIBLE: frozenset({_S.PROMOTED}),
    },
}
"""By step and by the state before, all that may come next; None is before any state."""


def may_follow(step: Step, before: PromotionState | None, after: PromotionState) -> bool:
    return after in MAY_FOLLOW[step][before]


# Waivers: somebody answers, for a time, for a check that does not pass.

LONGEST_WAIVER_DAYS = 90


class Waiver(Noun):
    """Of a FAIL rule or an ALERT policy of one dataset; no waiver touches a BLOCK policy."""

    waiver_id: str
    check_kind: Literal["rule", "policy"]
    check_id: str
    expression: str
    """What the check said when it was waived; it holds for nothing else of the same name."""
    approver: str
    reason: str
    granted_at: Instant
    until: Instant
    """The first moment at which it holds no more."""

    def in_force(self, at: Instant) -> bool:
        return self.granted_at <= at < self.until


class WaiverRow(Noun):
    """A waiver as the ledger shows it."""

    dataset: DatasetName
    waiver: Waiver
    granted_by: str
    revoked_at: Instant | None = None
    revoked_by: str | None = None
    revoked_for: str | None = None
