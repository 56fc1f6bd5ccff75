"""The ports of a control plane. Code that only reads gets the reader.

Checklist for implementations, covered by the contract tests:

* every method returns a frozen model or raises one of ``lakeguard_sdk.errors``;
* the ticket of an ended attempt gets ``Fenced`` from every method;
* ``complete_move`` is idempotent: the same arguments return the same bytes;
* a worker's client has ``reader`` and ``runs`` only; else a run's ticket gets ``NotPermitted``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lakeguard_sdk.core.dataset_name import Address, DatasetName
    from lakeguard_sdk.core.enums import Layer, RunStatus, TaskState
    from lakeguard_sdk.expressions.measures import Measure
    from lakeguard_sdk.model.decision import Decision, WaiverRow
    from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
    from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
    from lakeguard_sdk.model.evidence import Evidence, SourceFile
    from lakeguard_sdk.model.given_values import GivenRow, GivenValues
    from lakeguard_sdk.model.history import (
        Backtest,
        RebuildPlan,
        Remeasured,
        RemeasurePlan,
        Replays,
    )
    from lakeguard_sdk.model.lineage import BatchLineage
    from lakeguard_sdk.model.plan import Applied, Plan
    from lakeguard_sdk.model.profile import Profile, ProfilePlan
    from lakeguard_sdk.model.quarantine import (
        QuarantineBalance,
        QuarantineEntry,
        QuarantineListing,
        QuarantineSelection,
    )
    from lakeguard_sdk.model.read_models import (
        ColumnLineage,
        DatasetRow,
        DatasetStatus,
        FoundDataset,
        JobExecution,
        OpenRun,
        PointerMove,
        PolicyRow,
        ReplayResult,
        ResolvedDataset,
        RuleRow,
        RunEvent,
        RunFacts,
        RunRow,
        SchemaDiff,
        SchemaRow,
        VersionRow,
    )
    from lakeguard_sdk.model.row_ranges import RowRange
    from lakeguard_sdk.model.row_sample import RowSample
    from lakeguard_sdk.model.run import (
        AbandonedAttempt,
        Failure,
        Intent,
        RunPlan,
        RunResult,
        RunTicket,
        SchemaVerdict,
        Window,
        WorkerIdentity,
    )
    from lakeguard_sdk.model.run_comparison import CheckTrend, SideBySide, Since
    from lakeguard_sdk.model.streams import StreamReport
    from lakeguard_sdk.model.table_operations import (
        AdoptableTable,
        AdoptionPlan,
        Compacted,
        CompactionPlan,
        Maintained,
        Undone,
    )
    from lakeguard_sdk.model.verification import Finding, Synced, VerifyReport
    from lakeguard_sdk.scheduling.invalidations import InvalidationRow, PartitionRow, Reason
    from lakeguard_sdk.storage.file_records import FileRecord
    from lakeguard_sdk.types.schema import TableSchema


class Reader(Protocol):
    """Reads the registry and the ledger."""

    def datasets(self) -> Sequence[DatasetRow]: ...
    def dataset(self, name: DatasetName) -> DatasetRow: ...
    def definition(self, name: DatasetName) -> DatasetDefinition: ...
    def rules(self, name: DatasetName) -> Sequence[RuleRow]: ...
    def policies(self) -> Sequence[PolicyRow]: ...
    def status(self) -> Sequence[DatasetStatus]: ...
    def runs(
        self,
        name: DatasetName | None = None,
        limit: int = 50,
        *,
        status: RunStatus | None = None,
        since: datetime | None = None,
    ) -> Sequence[RunRow]: ...

    def executions(
        self, *, status: RunStatus | None = None, since: datetime | None = None, limit: int = 50
    ) -> Sequence[JobExecution]:
        """Executions of Python and HTTP jobs, newest first; running ones come before all others."""

    def execution(self, run_id: str) -> JobExecution: ...
    def search(
        self,
        text: str = "",
        *,
        owner: str = "",
        domain: str = "",
        tag: str = "",
        column: str = "",
        layer: Layer | None = None,
        limit: int = 50,
    ) -> Sequence[FoundDataset]:
        """Datasets with every word of the text, or with words that begin with it, in name,
        description, owner, domain, tags or columns; the exact name first."""

    def changed(self) -> Sequence[DatasetName]:
        """Datasets that a run would build differently than their published version: never
        published, defined differently since, or with newer inputs."""

    def open_runs(self, name: DatasetName | None = None) -> Sequence[OpenRun]:
        """Runs that have not ended, newest first; ``dead`` names why one can no longer end."""

    def run(self, run_id: str) -> RunRow: ...
    def run_events(self, run_id: str) -> Sequence[RunEvent]:
        """What happened to the run so far, in order; ENDED is the last event."""

    def facts(self, run_id: str) -> RunFacts | None:
        """None if the run submitted no evidence."""

    def versions(self, name: DatasetName) -> Sequence[VersionRow]: ...
    def column_lineage(
        self, name: DatasetName, version: int | None = None
    ) -> Sequence[ColumnLineage]:
        """Of the published version unless one is named."""

    def partitions(self, name: DatasetName, version: int | None = None) -> Sequence[PartitionRow]:
        """Of the published version unless one is named; empty if the dataset is not partitioned."""

    def invalidations(
        self, name: DatasetName | None = None, *, every: bool = False
    ) -> Sequence[InvalidationRow]:
        """Open invalidations, or with ``every`` all of them; newest first."""

    def invalidation(self, invalidation_id: str) -> InvalidationRow: ...
    def pointer_moves(self, name: DatasetName) -> Sequence[PointerMove]: ...
    def decision(self, run_id: str) -> Decision: ...
    def samples(self, run_id: str) -> tuple[RowSample, ...]:
        """Samples of failing rows, by rule; empty if none were taken."""

    def profiles(self, name: DatasetName, version: int | None = None) -> tuple[Profile, ...]:
        """Of the version, or of all versions; newest first."""

    def trends(self, run_id: str, limit: int = 12) -> tuple[CheckTrend, ...]:
        """Each check of the run over the previous runs; the run itself is the last point."""

    def since(self, run_id: str) -> Since | None:
        """Differences since the last successful run before it; None if there is none."""

    def quarantine(self, name: DatasetName | None = None) -> Sequence[QuarantineEntry]:
        """Quarantined rows by run and rule, relative to the published version."""

    def quarantine_balance(self, name: DatasetName) -> QuarantineBalance: ...
    def quarantined_rows(
        self, name: DatasetName, choice: QuarantineSelection, limit: int = 20
    ) -> QuarantineListing:
        """Rows waiting in quarantine; protected values are masked."""

    def waivers(self, name: DatasetName | None = None) -> Sequence[WaiverRow]: ...
    def resolve(self, address: Address) -> ResolvedDataset: ...
    def file_records(self, table_id: str, paths: Sequence[str]) -> Sequence[FileRecord]:
        """What was recorded of these files of a governed table when they were published."""

    def published_files(self, table_id: str, commit: int) -> Set[str]:
        """Paths of all files that a decided commit of a governed table shows."""

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]:
        """Those of the source files that the version has read; ask for about 1,000 at a time."""

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]:
        """Source files that the version has read, after the key; empty after the last."""

    def replay(self, run_id: str) -> ReplayResult: ...
    def schemas(self, name: DatasetName, limit: int = 50) -> Sequence[SchemaRow]: ...
    def schema_diff(
        self, name: DatasetName, declared: DatasetDefinition | None = None
    ) -> SchemaDiff | None: ...


class History(Protocol):
    """Read-only analysis of past decisions and versions."""

    def remeasure_plan(
        self, name: DatasetName, version: int, measures: Sequence[Measure]
    ) -> RemeasurePlan:
        """Raises ``VersionUnreadable`` if maintenance removed files of the version."""

    def backtest(
        self,
        draft: DatasetDefinition,
        since: datetime,
        *,
        remeasure: Callable[[RemeasurePlan], Remeasured] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Backtest:
        """Evaluates the draft's rules against every run since then. With ``remeasure``, versions
        are measured again if the evidence lacks what a rule needs."""

    def replay_all(
        self,
        name: DatasetName | None = None,
        *,
        since: datetime | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Replays:
        """Replays every decision, of one dataset or of all."""

    def side_by_side(self, before: str, after: str) -> SideBySide:
        """Compares two runs; raises ``NotComparable`` if they belong to different datasets."""

    def rebuild_plan(self, run_id: str) -> RebuildPlan:
        """Raises ``NotRebuildable`` if the ledger already shows that it cannot be done."""


class Runs(Protocol):
    """One attempt reports on itself. Opening a refused run returns its result."""

    def open_run(self, task_id: str, worker: WorkerIdentity) -> RunPlan | RunResult: ...
    def open_claimed(self, ticket: RunTicket) -> RunPlan | RunResult:
        """The plan of a claimed attempt; idempotent."""

    def heartbeat(self, ticket: RunTicket) -> float: ...
    def task_token(self, ticket: RunTicket) -> str:
        """A token for calls of this attempt only, valid for ten minutes while the lease holds."""

    def submit_schema(
        self, ticket: RunTicket, live: TableSchema, lineage: BatchLineage | None = None
    ) -> SchemaVerdict:
        """Builds whose text does not show it report what their columns are made of; without it,
        every column is unknown."""

    def submit_evidence(self, ticket: RunTicket, evidence: Evidence) -> Decision: ...
    def submit_samples(self, ticket: RunTicket, samples: tuple[RowSample, ...]) -> None:
        """Once per decision, blocked or not; idempotent."""

    def begin_move(self, ticket: RunTicket) -> Intent: ...
    def complete_move(self, ticket: RunTicket, commit: int) -> RunResult: ...
    def finish_unchanged(self, ticket: RunTicket) -> RunResult: ...
    def fail_run(self, ticket: RunTicket, failure: Failure) -> RunResult: ...
    def due_compaction(self, ticket: RunTicket) -> str | None: ...
    def open_compaction(
        self, task_id: str, worker: WorkerIdentity
    ) -> CompactionPlan | RunResult: ...
    def submit_compaction(self, ticket: RunTicket, compacted: Compacted) -> Intent: ...
    def due_profile(self, ticket: RunTicket) -> ProfilePlan | None:
        """What to profile now that the run has ended; None if no profile is due."""

    def submit_profile(self, ticket: RunTicket, profile: Profile) -> None:
        """Of the run's dataset; ignored if the version already has a profile."""

    def open_adoption(self, task_id: str, worker: WorkerIdentity) -> AdoptionPlan | RunResult: ...
    def submit_adoption(self, ticket: RunTicket, evidence: Evidence) -> RunResult: ...


class Registry(Protocol):
    """Definitions in, revisions out, in one transaction.

    Columns accepted from the data are retained; without ``keep_drift``, undeclared ones are
    dropped.
    """

    def definitions(self) -> Definitions: ...
    def dataset_ids(self) -> dict[str, str]:
        """The ids of all datasets, by name."""

    def plan(self, definitions: Definitions, *, keep_drift: bool = True) -> Plan: ...
    def apply(
        self,
        plan: Plan,
        reason: str = "",
        *,
        keep_drift: bool = True,
        given: Sequence[GivenRow] = (),
    ) -> Applied:
        """``given`` are the rows of which the plan was made. Their values are stored as given,
        even if the plan is empty."""

    def given_values(self) -> GivenValues:
        """Values of loaded rows that an export would otherwise write differently."""


class Operations(Protocol):
    """Operator actions on tasks and tables."""

    def submit(
        self,
        name: DatasetName,
        triggered_by: str,
        key: str | None = None,
        window: Window | None = None,
    ) -> str: ...
    def requeue(self, task_id: str) -> bool: ...
    def resume(self, task_id: str) -> TaskState:
        """Queues a build that ended without success, blocked or not, for one more attempt, which
        the caller starts. Returns the state: a completed task is never run again, and a running one
        is left to its process."""

    def submit_replay(
        self,
        name: DatasetName,
        triggered_by: str,
        choice: QuarantineSelection,
        *,
        as_newest: bool = False,
        key: str | None = None,
    ) -> str:
        """Submits a build of quarantined rows; refused if none is chosen, or they have no order."""

    def discard(
        self, name: DatasetName, choice: QuarantineSelection, reason: str
    ) -> Sequence[QuarantineEntry]:
        """Discards the chosen quarantined rows."""

    def submit_compaction(self, name: DatasetName, triggered_by: str) -> str: ...
    def examine(self, location: str, name: DatasetName | None = None) -> AdoptableTable:
        """The table at the location; raises ``NotAdoptable`` if the dataset cannot adopt it."""

    def submit_adoption(
        self, name: DatasetName, triggered_by: str, key: str | None = None
    ) -> str: ...
    def plan_profile(self, address: Address) -> ProfilePlan:
        """What to profile, and which of its columns are masked."""

    def record_profile(self, profile: Profile) -> Profile:
        """Stores the profile. Raises ``ProfileRefused`` if it does not match its version, and
        ``ProfileNotMasked`` if it contains protected values."""

    def maintain(self, name: DatasetName, *, dry_run: bool = False) -> Maintained: ...
    def reap(self) -> Sequence[AbandonedAttempt]:
        """Ends every attempt whose lease expired or whose local process is dead."""

    def rollback(self, name: DatasetName, to: int, reason: str) -> PointerMove: ...
    def undo(self, name: DatasetName, reason: str) -> Undone:
        """Puts the table back to its published version."""

    def record_damage(self, name: DatasetName) -> None:
        """Compares the published version with its record after a read of it failed, and records
        what is wrong with it."""

    def record_stream(self, name: DatasetName, report: StreamReport) -> None:
        """Stores the last report of a streaming query that writes to the dataset."""

    def waive(
        self, name: DatasetName, check: str, *, approver: str, reason: str, until: datetime
    ) -> WaiverRow: ...
    def revoke_waiver(self, waiver_id: str, reason: str) -> WaiverRow: ...
    def invalidate(
        self, name: DatasetName, reach: RowRange, reason: Reason, why: str = ""
    ) -> InvalidationRow:
        """Marks a row range, and everything built from it, to be rebuilt."""

    def withdraw_invalidation(self, invalidation_id: str, why: str) -> InvalidationRow: ...
    def reconcile(self) -> int:
        """Launches the jobs that can now catch up with an invalidation; returns their number."""


class Ledger(Protocol):
    """The ledger on the lake: synchronisation and verification."""

    def sync(self) -> Synced: ...
    def verify(
        self,
        *,
        replay: bool = False,
        head: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> VerifyReport: ...
    def data_places(self) -> Sequence[DataPlace]:
        """The target databases and schemas."""

    def judge_markers(self, found: Sequence[PlaceMarkers]) -> Sequence[Finding]:
        """Reports tables that the state does not know, and published tables that are missing."""

    def undelivered(self, found: Sequence[PlaceMarkers]) -> Sequence[Delivery]:
        """Published versions that readable target databases do not show yet."""
