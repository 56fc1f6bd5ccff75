"""Decisions of the gate with their checks; promotion states and waivers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CheckKind, Outcome, PromotionState, Severity, Verdict
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.expressions.measures import MeasureValue


class CheckResult(FrozenModel):
    """The result of one check; ``message`` explains it to a person."""

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
    """Approver, end and reason of the waiver, if one was in force."""
    fingerprint: str = Field(default="", exclude_if=lambda value: not value)
    """Content hash of the evaluated rule; empty for other checks."""
    parameters: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """Parameters of the rule besides its columns, as in its expression."""
    counted: str = Field(default="", exclude_if=lambda value: not value)
    """Key of the measure that counted the failing rows, for row rules."""
    severity: Severity | None = Field(default=None, exclude_if=lambda value: value is None)
    """Severity of the rule; None for other checks."""
    column: str = Field(default="", exclude_if=lambda value: not value)
    """The column of a rule about exactly one column."""


class Ruling(FrozenModel):
    """The result of ``decide``, without ids; a replay returns the same bytes."""

    verdict: Verdict
    reasons: tuple[str, ...]
    checks: tuple[CheckResult, ...]
    semantics: int
    decided_at: Instant
    discard: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether the staged files must be deleted at once because they may not be stored."""


class CaseHashes(FrozenModel):
    """Content hashes of all inputs of a decision."""

    facts: str
    evidence: str | None
    ruleset: str
    policies: str
    history: str


class Decision(FrozenModel):
    """A recorded ruling. A run may publish only with one that is ALLOWED."""

    decision_id: str
    run_id: str
    dataset: DatasetName
    dataset_id: str
    ruling: Ruling
    case: CaseHashes

    @property
    def allowed(self) -> bool:
        return self.ruling.verdict is Verdict.ALLOWED


# Promotion states and their transitions.

_S = PromotionState
_ANSWERS = frozenset({_S.ELIGIBLE, _S.BLOCKED})
_NOTHING: frozenset[PromotionState] = frozenset()


class Step(StrEnum):
    """The cause of a state transition."""

    REGISTRATION = "registration"
    """A new dataset, or a new source layer; the previous state is that of the same path."""
    EVALUATION = "evaluation"
    """A decision was made. The previous state is that of the same decision, not of the dataset:
    two of its runs may be active at once."""
    MOVE = "move"
    """The allowed version becomes visible; the previous state is that of the same decision."""


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
"""Allowed next states by step and previous state; None means no previous state."""


def may_follow(step: Step, before: PromotionState | None, after: PromotionState) -> bool:
    return after in MAY_FOLLOW[step][before]


# Waivers: temporary exceptions from a check, with an approver.

LONGEST_WAIVER_DAYS = 90


class Waiver(FrozenModel):
    """Waives a FAIL rule or an ALERT policy of one dataset; BLOCK policies cannot be waived."""

    waiver_id: str
    check_kind: Literal["rule", "policy"]
    check_id: str
    expression: str
    """The check's expression when it was waived; the waiver does not apply to any other."""
    approver: str
    reason: str
    granted_at: Instant
    until: Instant
    """Exclusive end."""
    covers: str = Field(default="", exclude_if=lambda value: not value)
    """The decision with the failure it was granted for; it ends with that failure. Empty if the
    check had not failed yet."""

    def in_force(self, at: Instant) -> bool:
        return self.granted_at <= at < self.until


class WaiverRow(FrozenModel):
    """A waiver as recorded in the ledger."""

    dataset: DatasetName
    waiver: Waiver
    granted_by: str
    revoked_at: Instant | None = None
    revoked_by: str | None = None
    revoked_for: str | None = None
    failure: str = Field(default="", exclude_if=lambda value: not value)
    """The failure that it covers, with its run."""
    over_at: Instant | None = Field(default=None, exclude_if=lambda value: value is None)
    """When the check passed again, which ended the waiver."""

    def is_active(self, at: Instant) -> bool:
        return self.revoked_at is None and self.over_at is None and self.waiver.in_force(at)
