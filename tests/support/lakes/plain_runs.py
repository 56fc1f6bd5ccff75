"""The plainest run port: it allows what the test says, and keeps what it was told."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from deltalake import DeltaTable

from lakeguard_sdk.client import WorkerClient
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    LoadType,
    MoveKind,
    RunStatus,
    TargetFormat,
    Verdict,
)
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.decision import CaseHashes, Decision, Ruling
from lakeguard_sdk.model.evidence import Evidence, SourceFile, SourcePosition
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineRule
from lakeguard_sdk.model.run import (
    Build,
    Failure,
    InputPin,
    Intent,
    RunPlan,
    RunResult,
    RunTicket,
    SchemaReaction,
    SchemaVerdict,
    SourceBuild,
    TableBase,
    Window,
    WorkerIdentity,
)
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.storage.file_records import FileRecord
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.delta_table import live_files, open_table
from tests.support.fakes.source_history import SourceHistory
from tests.unit.openlaketx.governed import DATASET_ID, create_governed


@dataclass(frozen=True)
class OwnFiles:
    """The reader of a run that continues its source; every file of its table is as published."""

    location: str
    read: SourceHistory

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]:
        return self.read.source_files(dataset_id, version, keys)

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]:
        return self.read.source_file_page(dataset_id, version, after)

    def file_records(self, table_id: str, paths: Sequence[str]) -> Sequence[FileRecord]:
        places = {path: Path(self.location, path) for path in paths}
        return [FileRecord(path=path, size=place.stat().st_size) for path, place in places.items()]

    def published_files(self, table_id: str, commit: int) -> Set[str]:
        return set(live_files(open_table(self.location, commit)))


@dataclass
class PlainRuns:
    """One dataset; every run is planned from what the test sets."""

    lake: Path
    dataset: DatasetName
    declared: TableSchema
    build: Build
    load: LoadType | Load = LoadType.FULL
    measures: tuple[Any, ...] = ()
    quarantine_rules: tuple[QuarantineRule, ...] = ()
    allow: Callable[[Evidence], bool] = lambda evidence: True
    lease_seconds: float = 120.0
    transform: str = ""
    partition_by: tuple[str, ...] = ()
    format: TargetFormat = TargetFormat.DELTA
    window: Window | None = None
    references: tuple[InputPin, ...] = ()
    redacted_statistics: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    base: TableBase | None = None
    read: SourceHistory | None = None
    count: int = 0
    seq: int = 0
    live: list[TableSchema] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    beats: int = 0

    @property
    def location(self) -> str:
        return str(self.lake / self.dataset.layer / self.dataset.name)

    def client(self) -> WorkerClient:
        reader = cast(Reader, self.read and OwnFiles(self.location, self.read))
        return WorkerClient(reader=reader, runs=self, lake=str(self.lake))

    def continue_source(self, *reads: SourcePosition | None) -> None:
        """The next run continues what these versions have read of its source."""
        assert isinstance(self.build, SourceBuild)
        self.read = SourceHistory(*reads)
        self.build = self.build.model_copy(update={"position": self.read.position})

    def open_run(self, task_id: str, worker: WorkerIdentity) -> RunPlan | RunResult:
        self.count += 1
        run_id = new_id("run")
        return RunPlan(
            ticket=RunTicket(
                run_id=run_id, task_id=task_id, attempt=self.count, lease_token="token"
            ),
            dataset=self.dataset,
            dataset_id=DATASET_ID,
            lease_seconds=self.lease_seconds,
            load=self.load,
            declared=self.declared,
            build=self.build,
            measures=self.measures,
            quarantine_rules=self.quarantine_rules,
            location=self.location,
            base=self.base,
            staging=f"runs/{run_id}",
            definition_hash="sha256:0",
            transform=self.transform,
            partition_by=self.partition_by,
            format=self.format,
            window=self.window,
            references=self.references,
            redacted_statistics=self.redacted_statistics,
            settings=self.settings,
            as_of=_now(),
        )

    def open_claimed(self, ticket: RunTicket) -> RunPlan | RunResult:
        worker = WorkerIdentity(name="worker", host="here", pid=1, process_mark="x")
        return self.open_run(ticket.task_id, worker).model_copy(update={"ticket": ticket})

    def heartbeat(self, ticket: RunTicket) -> float:
        self.beats += 1
        return self.lease_seconds

    def submit_schema(
        self, ticket: RunTicket, live: TableSchema, lineage: BatchLineage | None = None
    ) -> SchemaVerdict:
        self.live.append(live)
        differences = tuple(
            SchemaReaction(
                column=column.name,
                change=SchemaChange.NARROW,
                found=live.type_of(column.name),
                declared=column.type,
                reaction=Reaction.ACCEPT_CAST,
            )
            for column in self.declared.columns
            if live.type_of(column.name) not in (None, column.type)
        )
        return SchemaVerdict(accepted=True, differences=differences)

    def submit_evidence(self, ticket: RunTicket, evidence: Evidence) -> Decision:
        self.evidence.append(evidence)
        verdict = Verdict.ALLOWED if self.allow(evidence) else Verdict.BLOCKED
        return Decision(
            decision_id=f"dec_{self.count}",
            run_id=ticket.run_id,
            dataset=self.dataset,
            dataset_id=DATASET_ID,
            ruling=Ruling(verdict=verdict, reasons=(), checks=(), semantics=1, decided_at=_now()),
            case=CaseHashes(
                facts="", evidence=evidence.content_hash(), ruleset="", policies="", history=""
            ),
        )

    def begin_move(self, ticket: RunTicket) -> Intent:
        evidence = self.evidence[-1]
        if not DeltaTable.is_deltatable(self.location):
            create_governed(self.location, evidence.table_schema, partition_by=self.partition_by)
        self.seq += 1
        return Intent(
            intent_id=f"int_{self.seq}",
            kind=MoveKind.PUBLISH,
            dataset=self.dataset,
            dataset_id=DATASET_ID,
            run_id=ticket.run_id,
            decision_id=f"dec_{self.count}",
            seq=self.seq,
            location=self.location,
            table_id=str(DeltaTable(self.location).metadata().id),
            base_commit=self.base.commit if self.base else 0,
            load=self.load.type if isinstance(self.load, Load) else self.load,
            table_schema=evidence.table_schema,
            partition_by=self.partition_by,
            adds=evidence.files,
            removes=evidence.removes,
        )

    def complete_move(self, ticket: RunTicket, commit: int) -> RunResult:
        table_id = str(DeltaTable(self.location).metadata().id)
        version = self.base.version + 1 if self.base else 1
        self.base = TableBase(version=version, commit=commit, table_id=table_id)
        return self._result(ticket, RunStatus.SUCCESS, version=version)

    def due_compaction(self, ticket: RunTicket) -> str | None:
        return None

    def due_profile(self, ticket: RunTicket) -> None:
        """No profile is asked for."""

    def finish_unchanged(self, ticket: RunTicket) -> RunResult:
        return self._result(ticket, RunStatus.SUCCESS)

    def fail_run(self, ticket: RunTicket, failure: Failure) -> RunResult:
        self.failures.append(failure)
        return self._result(ticket, RunStatus.FAILED, error=failure)

    def _result(self, ticket: RunTicket, status: RunStatus, **more: Any) -> RunResult:
        return RunResult(
            run_id=ticket.run_id, dataset=self.dataset, status=status, ended_at=_now(), **more
        )


def _now() -> datetime:
    return datetime.now(UTC)
