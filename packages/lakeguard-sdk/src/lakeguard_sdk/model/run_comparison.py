"""Run comparison: check trends, side-by-side runs, differences since the last good run."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    CheckKind,
    Outcome,
    RunStatus,
    Verdict,
)
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult


class CheckPoint(FrozenModel):
    """Result of a check in one run; NOT_EVALUATED if the run did not have it."""

    run_id: str
    ended_at: Instant
    outcome: Outcome
    failed_rows: int | None = None
    scope_rows: int | None = None
    observed: MeasureValue = None


class CheckTrend(FrozenModel):
    """One check over the last runs, oldest first."""

    kind: CheckKind
    check_id: str
    points: tuple[CheckPoint, ...]


class Subject(StrEnum):
    """The subject of a difference."""

    COLUMN = "column"
    RULE = "rule"
    POLICY = "policy"
    INPUT = "input"
    REFERENCE = "reference"
    BUILD = "build"
    DEFINITION = "definition"
    SOURCE = "source"
    SETTING = "setting"
    ENGINE = "engine"
    FIGURE = "figure"


class Difference(FrozenModel):
    """A changed value by name; None if it is absent on that side."""

    subject: Subject
    name: str
    before: str | None
    after: str | None


class NamedFiles(FrozenModel):
    """A group of files: their number, the first names, and their total size."""

    count: int
    names: tuple[str, ...]
    bytes: int


class RunSide(FrozenModel):
    """One of two compared runs."""

    run_id: str
    status: RunStatus
    ended_at: Instant
    version: int | None = None
    verdict: Verdict | None = None
    """None if there was no decision."""


class CheckPair(FrozenModel):
    """One check in two runs; None if a run did not have it."""

    kind: CheckKind
    check_id: str
    before: CheckResult | None
    after: CheckResult | None

    @property
    def same(self) -> bool:
        """Whether outcome and all numbers are equal."""
        if self.before is None or self.after is None:
            return False
        return _result(self.before) == _result(self.after)


class SideBySide(FrozenModel):
    """Two runs of one dataset side by side, from the ledger."""

    dataset: DatasetName
    before: RunSide
    after: RunSide
    figures: tuple[Difference, ...] = ()
    """Row counts and the like, including equal ones."""
    differences: tuple[Difference, ...] = ()
    """Changed columns, rules, policies, inputs, build and settings."""
    new_files: NamedFiles | None = None
    changed_files: NamedFiles | None = None
    gone_files: NamedFiles | None = None
    checks: tuple[CheckPair, ...] = ()
    """Different ones first."""


def _result(check: CheckResult) -> tuple[object, ...]:
    return check.outcome, check.failed_rows, check.scope_rows, check.observed, check.limit


class Since(FrozenModel):
    """Differences between a run and the last successful run before it, from the ledger."""

    version: int
    run_id: str
    promoted_at: Instant
    compared: bool = True
    """False for a run that builds nothing, such as a rollback."""
    new_files: NamedFiles | None = None
    changed_files: NamedFiles | None = None
    """Same name, different content."""
    gone_files: NamedFiles | None = None
    differences: tuple[Difference, ...] = ()
    read: dict[DatasetName, int | None] = Field(default_factory=dict)
    """Input versions that the run read, or would have read; None if none was published."""
