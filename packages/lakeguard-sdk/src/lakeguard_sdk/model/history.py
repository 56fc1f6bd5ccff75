"""Looking back: decisions made again, and drafts of rules held against runs of the past."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome, Severity, Verdict
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.expressions.measures import Measure, MeasureValue
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.model.run import InputPin, RunPlan, SchemaVerdict, TableSnapshot
from lakeguard_sdk.types.schema import TableSchema

NOT_MEASURED = "not measured"
"""Why a rule was not asked of a run whose evidence lacks what it needs; a scan may help."""


class ReplayedDifference(Noun):
    """A recorded decision that does not come out as it did."""

    run_id: str
    decision_id: str
    dataset: DatasetName
    decided_at: Instant
    message: str


class Replays(Noun):
    """How many decisions were made again, and each that was not the same."""

    decisions: int
    differences: tuple[ReplayedDifference, ...] = ()

    @property
    def identical(self) -> bool:
        return not self.differences


class DraftFinding(Noun):
    """What a rule of a draft comes to in one run; a value of a tagged column is never told."""

    rule_id: str
    outcome: Outcome
    message: str
    failed_rows: int | None = None
    scope_rows: int | None = None


class BacktestedRun(Noun):
    """A run of the past, as it was decided and as the draft would have it."""

    run_id: str
    decided_at: Instant
    version: int | None
    """None where it published none."""
    recorded: Verdict
    drafted: Verdict
    rolled_back: bool
    """Whether its version was shown, and a rollback took it away."""
    findings: tuple[DraftFinding, ...] = ()
    """Rules of the draft that fail in it."""
    lifted: tuple[str, ...] = ()
    """Checks that blocked it then, and would not now."""
    unmeasured: tuple[str, ...] = ()
    """Rules of the draft that its evidence has no measures for, so that they were not asked."""

    @property
    def blocks(self) -> bool:
        """Whether only the draft would have stopped it."""
        return self.recorded is Verdict.ALLOWED and self.drafted is Verdict.BLOCKED

    @property
    def lets_through(self) -> bool:
        return self.recorded is Verdict.BLOCKED and self.drafted is Verdict.ALLOWED

    @property
    def misses(self) -> bool:
        """Whether it was rolled back afterwards, and the draft would not have stopped it."""
        return self.rolled_back and self.drafted is Verdict.ALLOWED

    @property
    def spoils(self) -> bool:
        """Whether the draft would have stopped a run that was fine."""
        return self.blocks and not self.rolled_back


class BacktestedRule(Noun):
    """A rule of the draft over all runs."""

    rule_id: str
    expression: str
    severity: Severity
    judged: int
    failed: int
    warned: int
    unmeasured: int
    reasons: tuple[str, ...] = ()
    """Why it was not judged in some, each said once."""
    first: str | None = None
    """The first and the last run in which it fails."""
    last: str | None = None

    @property
    def share(self) -> float:
        """Of the runs in which it was judged, those in which it fails."""
        return self.failed / self.judged if self.judged else 0.0


class Backtest(Noun):
    """A draft against the runs that came to evidence since a time."""

    dataset: DatasetName
    since: Instant
    scanned: bool
    new: bool = Field(default=False, exclude_if=lambda new: not new)
    """Whether the dataset is not registered yet, so that it has no runs."""
    runs: int
    told: tuple[BacktestedRun, ...]
    """The oldest first: runs that the draft decides otherwise, and those rolled back."""
    rules: tuple[BacktestedRule, ...]
    added: tuple[str, ...] = Field(default=())
    """Rules of the draft that are not registered as they stand, by id."""
    dropped: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[BacktestedRun, ...]:
        return tuple(run for run in self.told if run.blocks)

    @property
    def lets_through(self) -> tuple[BacktestedRun, ...]:
        return tuple(run for run in self.told if run.lets_through)

    @property
    def misses(self) -> tuple[BacktestedRun, ...]:
        return tuple(run for run in self.told if run.misses)

    @property
    def unasked(self) -> tuple[str, ...]:
        """Rules that were asked in none of the runs, so that nothing is known of them."""
        return tuple(rule.rule_id for rule in self.rules if rule.unmeasured and not rule.judged)

    @property
    def to_scan(self) -> tuple[str, ...]:
        """Of those, the new and changed ones that a scan may answer, and none was made."""
        lacking = {rule.rule_id for rule in self.rules if NOT_MEASURED in rule.reasons}
        open_rules = (name for name in self.unasked if name in lacking and name in self.added)
        return () if self.scanned else tuple(open_rules)

    @property
    def unchanged(self) -> int:
        return self.runs - len(self.blocks) - len(self.lets_through)

    @property
    def spoils(self) -> bool:
        return any(run.spoils for run in self.told)


# Building a run of the past again: what it was given, and how its rows compare.


class RebuildPlan(Noun):
    """All that a run was given, and what it came to."""

    run: RunPlan
    verdict: SchemaVerdict
    evidence: Evidence
    version: int | None = None


class Rebuilt(Noun):
    """The rows that a run wrote beside those that it writes now."""

    run_id: str
    dataset: DatasetName
    version: int | None
    rows: int
    """That the run wrote then, in all files that its commit adds."""
    rows_now: int
    missing: int = 0
    """Rows of then that are not there now, each as often as it is missing."""
    extra: int = 0
    columns: tuple[str, ...] = ()
    """Columns whose values are not the same taken together."""
    schema_changes: tuple[str, ...] = ()
    """Columns that only one of them has, or has in another type."""
    removed_otherwise: bool = False
    """Whether other files of its base would be replaced."""
    digest: str = ""
    digest_now: str = ""
    """Of all rows, whatever their order and their files."""

    @property
    def same(self) -> bool:
        return (
            self.digest == self.digest_now
            and not self.schema_changes
            and not self.removed_otherwise
        )


# A survey: measures of a version that is published already, taken long after its run.


class SurveyPlan(Noun):
    """What to measure of which version. Rules of scope batch are asked of the rows that its
    commit brought, those of scope table of all that it shows."""

    dataset: DatasetName
    version: int
    snapshot: TableSnapshot
    table_schema: TableSchema = Field(alias="schema")
    measures: tuple[Measure, ...]
    references: tuple[InputPin, ...] = ()
    """Datasets that keys refer to, each at the version that the run held them against."""
    files: tuple[StagedFile, ...] = ()
    """What its own commit added: rows that its run brought, and their neighbours."""
    rows: int = 0
    """How many rows its run brought."""


class Surveyed(Noun):
    """Values by the key of their measure; what could not be measured, with the reason."""

    rows: int
    table_rows: int
    values: dict[str, MeasureValue]
    unmeasured: dict[str, str] = Field(default_factory=dict)
