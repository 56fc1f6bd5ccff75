"""A run beside those before it: how each check fared, and what differs since the last green one."""

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
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult


class CheckPoint(Noun):
    """What a check came to in one run; NOT_EVALUATED where the run did not ask it."""

    run_id: str
    ended_at: Instant
    outcome: Outcome
    failed_rows: int | None = None
    scope_rows: int | None = None
    observed: MeasureValue = None


class CheckTrend(Noun):
    """One check over the last runs, the oldest first, the run that was asked about last."""

    kind: CheckKind
    check_id: str
    points: tuple[CheckPoint, ...]


class Subject(StrEnum):
    """What a difference is about."""

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


class Difference(Noun):
    """One thing, by its name, that is not as it was; None where it is not there at all."""

    subject: Subject
    name: str
    before: str | None
    after: str | None


class NamedFiles(Noun):
    """Some files: how many, the first of their names, and how large they are together."""

    count: int
    names: tuple[str, ...]
    bytes: int


class RunSide(Noun):
    """One of two runs, as far as it came."""

    run_id: str
    status: RunStatus
    ended_at: Instant
    version: int | None = None
    verdict: Verdict | None = None
    """None where the gate was never asked."""


class CheckPair(Noun):
    """One check in two runs; None where a run did not have it."""

    kind: CheckKind
    check_id: str
    before: CheckResult | None
    after: CheckResult | None

    @property
    def same(self) -> bool:
        """Whether it came to the same, number by number."""
        if self.before is None or self.after is None:
            return False
        return _came_to(self.before) == _came_to(self.after)


class SideBySide(Noun):
    """All that the ledger knows of two runs of one dataset, one beside the other."""

    dataset: DatasetName
    before: RunSide
    after: RunSide
    figures: tuple[Difference, ...] = ()
    """Numbers of rows and the like; those that are the same too."""
    differences: tuple[Difference, ...] = ()
    """Only what is not the same: columns, rules, policies, inputs, build, settings."""
    new_files: NamedFiles | None = None
    changed_files: NamedFiles | None = None
    gone_files: NamedFiles | None = None
    checks: tuple[CheckPair, ...] = ()
    """Those that differ first."""


def _came_to(check: CheckResult) -> tuple[object, ...]:
    return check.outcome, check.failed_rows, check.scope_rows, check.observed, check.limit


class Since(Noun):
    """What the ledger knows to differ between the last green run before a run, and that run."""

    version: int
    run_id: str
    promoted_at: Instant
    compared: bool = True
    """False of a run that builds nothing, such as a rollback: it has nothing to differ in."""
    new_files: NamedFiles | None = None
    changed_files: NamedFiles | None = None
    """Of the same names, with other content."""
    gone_files: NamedFiles | None = None
    differences: tuple[Difference, ...] = ()
    read: dict[DatasetName, int | None] = Field(default_factory=dict)
    """Versions of its inputs that the run read, or would have; None where none was published."""
