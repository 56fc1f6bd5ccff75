"""Replays, backtests, rebuilds and remeasured versions."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome, Severity, Verdict
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.expressions.measures import Measure, MeasureValue, measure_key
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.model.run import InputPin, RunPlan, SchemaVerdict, TableSnapshot
from lakeguard_sdk.types.schema import TableSchema

NOT_MEASURED = "not measured"
"""Reason for a rule that the evidence of a run cannot answer; ``--scan`` may help."""


class ReplayedDifference(FrozenModel):
    """A recorded decision whose replay differs."""

    run_id: str
    decision_id: str
    dataset: DatasetName
    decided_at: Instant
    message: str


class Replays(FrozenModel):
    """The number of replayed decisions, and those that differ."""

    decisions: int
    differences: tuple[ReplayedDifference, ...] = ()

    @property
    def identical(self) -> bool:
        return not self.differences


class DraftFinding(FrozenModel):
    """Result of a drafted rule in one run; values of tagged columns are redacted."""

    rule_id: str
    outcome: Outcome
    message: str
    failed_rows: int | None = None
    scope_rows: int | None = None


class BacktestedRun(FrozenModel):
    """A past run with its recorded verdict and the draft's verdict."""

    run_id: str
    decided_at: Instant
    version: int | None
    """None if it published none."""
    recorded: Verdict
    drafted: Verdict
    rolled_back: bool
    """Whether its version was published and later rolled back."""
    findings: tuple[DraftFinding, ...] = ()
    """Failing rules of the draft."""
    lifted: tuple[str, ...] = ()
    """Checks that blocked it and would no longer."""
    unmeasured: tuple[str, ...] = ()
    """Rules of the draft that could not be evaluated for lack of measures."""

    @property
    def blocks(self) -> bool:
        """Whether only the draft would have blocked it."""
        return self.recorded is Verdict.ALLOWED and self.drafted is Verdict.BLOCKED

    @property
    def lets_through(self) -> bool:
        return self.recorded is Verdict.BLOCKED and self.drafted is Verdict.ALLOWED

    @property
    def misses(self) -> bool:
        """Whether it was rolled back and the draft would not have blocked it."""
        return self.rolled_back and self.drafted is Verdict.ALLOWED

    @property
    def spoils(self) -> bool:
        """Whether the draft would have blocked a good run (false positive)."""
        return self.blocks and not self.rolled_back


class BacktestedRule(FrozenModel):
    """A drafted rule over all runs."""

    rule_id: str
    expression: str
    severity: Severity
    judged: int
    failed: int
    warned: int
    unmeasured: int
    reasons: tuple[str, ...] = ()
    """Distinct reasons why it was not evaluated in some runs."""
    first: str | None = None
    """First and last run in which it fails."""
    last: str | None = None

    @property
    def share(self) -> float:
        """Share of evaluated runs in which it fails."""
        return self.failed / self.judged if self.judged else 0.0


class Backtest(FrozenModel):
    """A draft against all runs with evidence since a given time."""

    dataset: DatasetName
    since: Instant
    scanned: bool
    new: bool = Field(default=False, exclude_if=lambda new: not new)
    """Whether the dataset is not registered yet and so has no runs."""
    runs: int
    reported: tuple[BacktestedRun, ...]
    """Runs with a different verdict and rolled back runs, oldest first."""
    rules: tuple[BacktestedRule, ...]
    added: tuple[str, ...] = Field(default=())
    """Ids of new and changed rules."""
    dropped: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[BacktestedRun, ...]:
        return tuple(run for run in self.reported if run.blocks)

    @property
    def lets_through(self) -> tuple[BacktestedRun, ...]:
        return tuple(run for run in self.reported if run.lets_through)

    @property
    def misses(self) -> tuple[BacktestedRun, ...]:
        return tuple(run for run in self.reported if run.misses)

    @property
    def unasked(self) -> tuple[str, ...]:
        """Rules that could not be evaluated in any run."""
        return tuple(rule.rule_id for rule in self.rules if rule.unmeasured and not rule.judged)

    @property
    def to_scan(self) -> tuple[str, ...]:
        """New and changed rules among those that a scan might answer; empty after a scan."""
        lacking = {rule.rule_id for rule in self.rules if NOT_MEASURED in rule.reasons}
        open_rules = (name for name in self.unasked if name in lacking and name in self.added)
        return () if self.scanned else tuple(open_rules)

    @property
    def unchanged(self) -> int:
        return self.runs - len(self.blocks) - len(self.lets_through)

    @property
    def spoils(self) -> bool:
        return any(run.spoils for run in self.reported)


# Rebuilding a past run, and comparing its rows.


class RebuildPlan(FrozenModel):
    """The inputs and the result of a past run."""

    run: RunPlan
    verdict: SchemaVerdict
    evidence: Evidence
    version: int | None = None


class Rebuilt(FrozenModel):
    """Comparison of the rows of a past run with those of its rebuild."""

    run_id: str
    dataset: DatasetName
    version: int | None
    rows: int
    """Rows in the files that its commit added."""
    rows_now: int
    missing: int = 0
    """Rows of the run that the rebuild lacks, with multiplicity."""
    extra: int = 0
    columns: tuple[str, ...] = ()
    """Columns whose values differ."""
    schema_changes: tuple[str, ...] = ()
    """Columns that exist in only one of them, or with another type."""
    removed_otherwise: bool = False
    """Whether the rebuild would replace other files of its base."""
    digest: str = ""
    digest_now: str = ""
    """Order-independent digest of all rows."""

    @property
    def same(self) -> bool:
        return (
            self.digest == self.digest_now
            and not self.schema_changes
            and not self.removed_otherwise
        )


# Remeasuring: measures of an already published version.


class RemeasurePlan(FrozenModel):
    """What to measure in which version. Batch-scoped measures use the rows of its commit,
    table-scoped ones the whole table."""

    dataset: DatasetName
    version: int
    snapshot: TableSnapshot
    table_schema: TableSchema = Field(alias="schema")
    measures: tuple[Measure, ...]
    references: tuple[InputPin, ...] = ()
    """Referenced datasets, each at the version that the run used."""
    files: tuple[StagedFile, ...] = ()
    """Files added by its commit: the rows of its run, and rows rewritten with them."""
    rows: int = 0
    """Rows of its run."""


class Remeasured(FrozenModel):
    """Values and failure reasons by measure key."""

    rows: int
    table_rows: int
    values: dict[str, MeasureValue]
    unmeasured: dict[str, str] = Field(default_factory=dict)


def not_measured(plan: RemeasurePlan, reason: str) -> Remeasured:
    """None of the measures, for this reason."""
    lacking = {measure_key(measure): reason for measure in plan.measures}
    return Remeasured(rows=plan.rows, table_rows=0, values={}, unmeasured=lacking)
