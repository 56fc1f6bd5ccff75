"""The narrow ports of a control plane. What only thinks gets the reader.

An implementer's checklist, proved by the conformance suite:

* every method answers with a noun or raises one of ``lakeguard_sdk.errors``;
* a ticket of an attempt that is over gets ``Fenced``, whatever the method;
* ``complete_move`` with the same arguments again answers the same bytes;
* a worker's client has ``reader`` and ``runs`` only, and every other call made with what a
  run holds is refused with ``NotPermitted``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.decision import Decision, WaiverRow
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.history import Backtest, RebuildPlan, Replays, Surveyed, SurveyPlan
from lakeguard_sdk.model.plan import Applied, Plan
from lakeguard_sdk.model.profile import Profile, ProfilePlan
from lakeguard_sdk.model.quarantine import (
    KeptChoice,
    KeptListing,
    KeptRows,
    QuarantineBalance,
)
from lakeguard_sdk.model.read_models import (
    ColumnLineage,
    DatasetRow,
    DatasetStatus,
    PointerMove,
    PolicyRow,
    ReplayResult,
    ResolvedDataset,
    RuleRow,
    RunFacts,
    RunRow,
    SchemaDiff,
    SchemaRow,
    VersionRow,
)
from lakeguard_sdk.model.row_ranges import Reach
from lakeguard_sdk.model.row_sample import RowSample
from lakeguard_sdk.model.run import (
    Failure,
    Intent,
    LeftBehind,
    RunPlan,
    RunResult,
    RunTicket,
    SchemaVerdict,
    Window,
    WorkerIdentity,
)
from lakeguard_sdk.model.run_comparison import CheckTrend, SideBySide, Since
from lakeguard_sdk.model.table_operations import (
    AdoptableTable,
    AdoptionPlan,
    Compacted,
    CompactionPlan,
    Maintained,
)
from lakeguard_sdk.model.verification import Finding, Synced, VerifyReport
from lakeguard_sdk.scheduling.invalidations import InvalidationRow, PartitionRow, Reason
from lakeguard_sdk.types.schema import TableSchema


class Reader(Protocol):
    """Reads the registry and the ledger."""

    def datasets(self) -> Sequence[DatasetRow]: ...
    def dataset(self, name: DatasetName) -> DatasetRow: ...
    def definition(self, name: DatasetName) -> DatasetDefinition: ...
    def rules(self, name: DatasetName) -> Sequence[RuleRow]: ...
    def policies(self) -> Sequence[PolicyRow]: ...
    def status(self) -> Sequence[DatasetStatus]: ...
    def runs(self, name: DatasetName | None = None, limit: int = 50) -> Sequence[RunRow]: ...
    def run(self, run_id: str) -> RunRow: ...
    def facts(self, run_id: str) -> RunFacts | None:
        """None where the run came to no evidence of its own."""

    def versions(self, name: DatasetName) -> Sequence[VersionRow]: ...
    def column_lineage(
        self, name: DatasetName, version: int | None = None
    ) -> Sequence[ColumnLineage]:
        """Of what is published, where no version is named."""

    def partitions(self, name: DatasetName, version: int | None = None) -> Sequence[PartitionRow]:
        """Of what is published, where no version is named; none of a dataset that has none."""

    def invalidations(
        self, name: DatasetName | None = None, *, every: bool = False
    ) -> Sequence[InvalidationRow]:
        """Those that some have not caught up with, or all there ever were; the newest first."""

    def invalidation(self, invalidation_id: str) -> InvalidationRow: ...
    def pointer_moves(self, name: DatasetName) -> Sequence[PointerMove]: ...
    def decision(self, run_id: str) -> Decision: ...
    def samples(self, run_id: str) -> tuple[RowSample, ...]:
        """Failing rows of the run's rules, by rule; none where none were taken."""

    def profiles(self, name: DatasetName, version: int | None = None) -> tuple[Profile, ...]:
        """Of the version, or of all there are; the newest first."""

    def trends(self, run_id: str, limit: int = 12) -> tuple[CheckTrend, ...]:
        """Each check of the run over the runs that ended before it, itself the last point."""

    def since(self, run_id: str) -> Since | None:
        """What differs since the last green run before it; None where there is none."""

    def quarantine(self, name: DatasetName | None = None) -> Sequence[KeptRows]:
        """What each run filed under each rule, as seen from what is published."""

    def quarantine_balance(self, name: DatasetName) -> QuarantineBalance: ...
    def kept_rows(self, name: DatasetName, choice: KeptChoice, limit: int = 20) -> KeptListing:
        """Rows that wait; values that nobody may be told are masked."""

    def waivers(self, name: DatasetName | None = None) -> Sequence[WaiverRow]: ...
    def resolve(self, address: Address) -> ResolvedDataset: ...
    def replay(self, run_id: str) -> ReplayResult: ...
    def schemas(self, name: DatasetName, limit: int = 50) -> Sequence[SchemaRow]: ...
    def schema_diff(
        self, name: DatasetName, declared: DatasetDefinition | None = None
    ) -> SchemaDiff | None: ...


class Memory(Protocol):
    """Looks at what was decided and published long ago, and changes nothing of it."""

    def survey_plan(
        self, name: DatasetName, version: int, measures: Sequence[Measure]
    ) -> SurveyPlan:
        """``VersionUnreadable`` where maintenance removed files of the version."""

    def backtest(
        self,
        draft: DatasetDefinition,
        since: datetime,
        *,
        survey: Callable[[SurveyPlan], Surveyed] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Backtest:
        """The draft's rules against every run since then; with ``survey``, versions are measured
        where evidence lacks what a rule needs."""

    def replay_all(
        self,
        name: DatasetName | None = None,
        *,
        since: datetime | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Replays:
        """Every decision, of one dataset or of all, made again."""

    def side_by_side(self, before: str, after: str) -> SideBySide:
        """Two runs by their ids; ``NotComparable`` where they are of two datasets."""

    def rebuild_plan(self, run_id: str) -> RebuildPlan:
        """``NotRebuildable`` where the ledger knows already that it cannot be done."""


class Runs(Protocol):
    """One attempt reports on itself. A refused run answers with its result."""

    def open_run(self, task_id: str, worker: WorkerIdentity) -> RunPlan | RunResult: ...
    def open_claimed(self, ticket: RunTicket) -> RunPlan | RunResult:
        """The plan of an attempt that was taken from the queue; asked again, the same."""

    def heartbeat(self, ticket: RunTicket) -> float: ...
    def submit_schema(self, ticket: RunTicket, live: TableSchema) -> SchemaVerdict: ...
    def submit_evidence(self, ticket: RunTicket, evidence: Evidence) -> Decision: ...
    def submit_samples(self, ticket: RunTicket, samples: tuple[RowSample, ...]) -> None:
        """Once for a decision, blocked or not; the same again changes nothing."""

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
        """What to take a profile of now that the run has ended; None where nothing asks for it."""

    def submit_profile(self, ticket: RunTicket, profile: Profile) -> None:
        """Of the dataset of the run; of a version that has one by now, nothing changes."""

    def open_adoption(self, task_id: str, worker: WorkerIdentity) -> AdoptionPlan | RunResult: ...
    def submit_adoption(self, ticket: RunTicket, evidence: Evidence) -> RunResult: ...


class Registry(Protocol):
    """Definitions in, revisions out, in one transaction.

    Columns that came with the data stay; without ``keep_drift`` those go that are not named.
    """

    def definitions(self) -> Definitions: ...
    def plan(self, definitions: Definitions, *, keep_drift: bool = True) -> Plan: ...
    def apply(self, plan: Plan, reason: str = "", *, keep_drift: bool = True) -> Applied: ...


class Operations(Protocol):
    """What an operator may do to tasks and tables."""

    def submit(
        self,
        name: DatasetName,
        triggered_by: str,
        key: str | None = None,
        window: Window | None = None,
    ) -> str: ...
    def requeue(self, task_id: str) -> bool: ...
    def submit_replay(
        self,
        name: DatasetName,
        triggered_by: str,
        choice: KeptChoice,
        *,
        as_newest: bool = False,
        key: str | None = None,
    ) -> str:
        """A build of rows that wait; refused where none is chosen, or nothing orders them."""

    def discard(self, name: DatasetName, choice: KeptChoice, reason: str) -> Sequence[KeptRows]:
        """Write off what waits and is chosen."""

    def submit_compaction(self, name: DatasetName, triggered_by: str) -> str: ...
    def examine(self, location: str, name: DatasetName | None = None) -> AdoptableTable:
        """The table there, if it may become that of the dataset; ``NotAdoptable`` if not."""

    def submit_adoption(
        self, name: DatasetName, triggered_by: str, key: str | None = None
    ) -> str: ...
    def plan_profile(self, address: Address) -> ProfilePlan:
        """What to take a profile of, and of which of its columns no value may be told."""

    def record_profile(self, profile: Profile) -> Profile:
        """As it is kept from now on, beside those there are; ``ProfileRefused`` where it is not of
        its version, ``ProfileNotMasked`` where it tells too much."""

    def maintain(self, name: DatasetName, *, dry_run: bool = False) -> Maintained: ...
    def reap(self) -> Sequence[LeftBehind]:
        """End every attempt whose lease is over or whose process on this machine is gone."""

    def rollback(self, name: DatasetName, to: int, reason: str) -> PointerMove: ...
    def waive(
        self, name: DatasetName, check: str, *, approver: str, reason: str, until: datetime
    ) -> WaiverRow: ...
    def revoke_waiver(self, waiver_id: str, reason: str) -> WaiverRow: ...
    def invalidate(
        self, name: DatasetName, reach: Reach, reason: Reason, why: str = ""
    ) -> InvalidationRow:
        """What is in the reach has to be built again, and all that was built from it."""

    def withdraw_invalidation(self, invalidation_id: str, why: str) -> InvalidationRow: ...
    def reconcile(self) -> int:
        """How many jobs were launched, of those that may catch up with an invalidation now."""


class Ledger(Protocol):
    """The ledger on the lake: bringing it up to date, and proving it."""

    def sync(self) -> Synced: ...
    def verify(
        self,
        *,
        replay: bool = False,
        head: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> VerifyReport: ...
    def data_places(self) -> Sequence[DataPlace]:
        """Where targets deliver to."""

    def judge_markers(self, found: Sequence[PlaceMarkers]) -> Sequence[Finding]:
        """What lies there of things that the State does not know, and what is published and does
        not lie there."""

    def undelivered(self, found: Sequence[PlaceMarkers]) -> Sequence[Delivery]:
        """What is published and not shown by places that could be looked at."""
