"""The read port: registry and ledger as models.

What only one call needs, and has to import the gate or the scheduler for, is imported by that
call: ``status`` and ``runs`` need neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from lakeguard.dispatch.task_list import list_open_runs
from lakeguard.insight.comparison.run_facts import build_kinds, facts_of_run
from lakeguard.insight.comparison.trends import check_trends
from lakeguard.insight.reader.changed_datasets import changed_datasets
from lakeguard.insight.reader.file_reader import FileReader
from lakeguard.insight.reader.policy_alerts import alerts_let_through, broken_promises
from lakeguard.insight.reader.quarantine import (
    balance_of,
    listing_order,
    quarantined_by_version,
    quarantined_rows,
    read_listing,
    rows_in_quarantine,
)
from lakeguard.insight.reader.rows import policy_row, rule_row, status_row
from lakeguard.insight.reader.schemas import schema_diff, schema_rows, undeclared_columns
from lakeguard.ledger.decisions import required_decision, samples_of_run
from lakeguard.ledger.lineage import lineage_rows
from lakeguard.ledger.maintenance import removed_versions
from lakeguard.ledger.runs import latest_runs, run_row, run_rows
from lakeguard.ledger.streams import reported_streams
from lakeguard.ledger.table_findings import open_findings
from lakeguard.ledger.versions import (
    StoredVersion,
    inputs_of,
    latest_pointers,
    notes_of,
    pointer,
    pointer_rows,
    resolved_version,
    stored_version,
    stored_versions,
)
from lakeguard.ledger.waivers import waiver_rows
from lakeguard.registry.store import require_dataset
from lakeguard.state.registered_datasets import dataset_rows, registered_datasets
from lakeguard.state.schema import dataset_registry, policy_rules, quality_rules
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.core.enums import Layer, RunStatus
from lakeguard_sdk.errors import UnknownRun, UnknownVersion
from lakeguard_sdk.model.decision import Decision, WaiverRow
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.read_models import (
    ColumnLineage,
    DatasetRow,
    DatasetStatus,
    JobExecution,
    OpenRun,
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

if TYPE_CHECKING:
    from lakeguard_sdk.model.profile import Profile
    from lakeguard_sdk.model.quarantine import (
        QuarantineBalance,
        QuarantineEntry,
        QuarantineListing,
        QuarantineSelection,
    )
    from lakeguard_sdk.model.read_models import FoundDataset, RunEvent
    from lakeguard_sdk.model.row_sample import RowSample
    from lakeguard_sdk.model.run_comparison import CheckTrend, Since
    from lakeguard_sdk.scheduling.invalidations import InvalidationRow, PartitionRow


@dataclass(frozen=True)
class StateReader(FileReader):
    """Read-only; answers from the State alone."""

    def datasets(self) -> Sequence[DatasetRow]:
        with self.state.read() as tx:
            return list(registered_datasets(tx).datasets)

    def dataset(self, name: DatasetName) -> DatasetRow:
        with self.state.read() as tx:
            dataset_id = require_dataset(tx, name).dataset_id
            (row,) = dataset_rows(tx, dataset_registry.c.dataset_id == dataset_id)
            return row

    def definition(self, name: DatasetName) -> DatasetDefinition:
        with self.state.read() as tx:
            return require_dataset(tx, name).definition

    def rules(self, name: DatasetName) -> Sequence[RuleRow]:
        with self.state.read() as tx:
            dataset_id = require_dataset(tx, name).dataset_id
            rows = tx.execute(
                select(quality_rules)
                .where(quality_rules.c.dataset_id == dataset_id)
                .order_by(quality_rules.c.position)
            )
            return [rule_row(row) for row in rows]

    def policies(self) -> Sequence[PolicyRow]:
        query = select(policy_rules).where(policy_rules.c.org_id == self.state.org_id)
        with self.state.read() as tx:
            rows = tx.execute(query.order_by(policy_rules.c.policy_id)).all()
        return [policy_row(row) for row in rows]

    def status(self) -> Sequence[DatasetStatus]:
        with self.state.read() as tx:
            published = latest_pointers(tx)
            last_runs = latest_runs(tx)
            datasets = registered_datasets(tx).datasets
            late = broken_promises(tx, datasets, tx.now())
            quarantined = rows_in_quarantine(tx)
            damaged = open_findings(tx)
            of_published: dict[str, Mapping[str, Any]] = {
                "alerts": alerts_let_through(tx),
                "quarantined": {key: rows for key, (rows, _) in quarantined.items()},
                "quarantined_since": {key: since for key, (_, since) in quarantined.items()},
            }
            of_all: dict[str, Mapping[str, Any]] = {
                "breaches": late,
                "new_columns": undeclared_columns(tx),
                "damage": {key: found.message for key, found in damaged.items()},
                "streams": reported_streams(tx),
            }
            open_runs = {row.dataset: row for row in reversed(list_open_runs(tx))}
        statuses = []
        for row in datasets:
            key = row.dataset_id
            known = {**of_published, **of_all} if key in published else of_all
            found = {name: values[key] for name, values in known.items() if key in values}
            if row.dataset_name in open_runs:
                found["open_run"] = open_runs[row.dataset_name]
            statuses.append(status_row(row, published.get(key), last_runs.get(key), **found))
        return statuses

    def runs(
        self,
        name: DatasetName | None = None,
        limit: int = 50,
        *,
        status: RunStatus | None = None,
        since: datetime | None = None,
    ) -> Sequence[RunRow]:
        with self.state.read() as tx:
            dataset_id = None
            if name is not None:
                dataset_id = require_dataset(tx, name).dataset_id
            return run_rows(tx, dataset_id, limit, status=status, since=since)

    def executions(
        self,
        *,
        status: RunStatus | None = None,
        since: datetime | None = None,
        limit: int = 50,
    ) -> Sequence[JobExecution]:
        from lakeguard.insight.reader.executions import job_executions

        with self.state.read() as tx:
            return job_executions(tx, status=status, since=since, limit=limit)

    def execution(self, run_id: str) -> JobExecution:
        from lakeguard.insight.reader.executions import job_execution

        with self.state.read() as tx:
            found = job_execution(tx, run_id)
        if found is None:
            raise UnknownRun(run=run_id)
        return found

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
        among: Collection[str] | None = None,
    ) -> Sequence[FoundDataset]:
        from lakeguard.insight.reader.search import SearchFilter, search_datasets

        wanted = SearchFilter(owner, domain, tag, column, layer)
        with self.state.read() as tx:
            return search_datasets(tx, text, wanted, limit, among)

    def changed(self) -> Sequence[DatasetName]:
        with self.state.read() as tx:
            return changed_datasets(tx)

    def open_runs(self, name: DatasetName | None = None) -> Sequence[OpenRun]:
        with self.state.read() as tx:
            dataset_id = None if name is None else require_dataset(tx, name).dataset_id
            return list_open_runs(tx, dataset_id)

    def run(self, run_id: str) -> RunRow:
        with self.state.read() as tx:
            return self._run(tx, run_id)

    def run_events(self, run_id: str) -> Sequence[RunEvent]:
        from lakeguard.insight.reader.run_events import run_events

        with self.state.read() as tx:
            found = run_events(tx, run_id)
        if found is None:
            raise UnknownRun(run=run_id)
        return found

    def facts(self, run_id: str) -> RunFacts | None:
        with self.state.read() as tx:
            return facts_of_run(tx, self._run(tx, run_id))

    def versions(self, name: DatasetName) -> Sequence[VersionRow]:
        with self.state.read() as tx:
            dataset_id = require_dataset(tx, name).dataset_id
            published = pointer(tx, dataset_id)
            notes = notes_of(tx, dataset_id)
            removed = removed_versions(tx, dataset_id)
            kinds = build_kinds(tx, dataset_id)
            counts = quarantined_by_version(tx, dataset_id)
            return [
                VersionRow(
                    published=published is not None and published.version == row.version,
                    inputs=inputs_of(tx, dataset_id, row.version),
                    notes=notes.get(row.version, {}),
                    removed=row.version in removed,
                    built_by=kinds.get(row.run_id),
                    quarantined=counts.get(row.version, 0),
                    **{
                        key: getattr(row, key)
                        for key in VersionRow.model_fields
                        if key in StoredVersion.model_fields
                    },
                )
                for row in stored_versions(tx, dataset_id)
            ]

    def column_lineage(
        self, name: DatasetName, version: int | None = None
    ) -> Sequence[ColumnLineage]:
        with self.state.read() as tx:
            return lineage_rows(tx, name, version)

    def partitions(self, name: DatasetName, version: int | None = None) -> Sequence[PartitionRow]:
        from lakeguard.insight.reader.invalidations import partition_rows

        with self.state.read() as tx:
            dataset = require_dataset(tx, name)
            return partition_rows(tx, dataset, version)

    def invalidations(
        self, name: DatasetName | None = None, *, every: bool = False
    ) -> Sequence[InvalidationRow]:
        from lakeguard.insight.reader.invalidations import invalidation_rows

        with self.state.read() as tx:
            if name is not None:
                name = require_dataset(tx, name).name
            return invalidation_rows(tx, name, every=every)

    def invalidation(self, invalidation_id: str) -> InvalidationRow:
        from lakeguard.insight.reader.invalidations import invalidation_row

        with self.state.read() as tx:
            return invalidation_row(tx, invalidation_id)

    def pointer_moves(self, name: DatasetName) -> Sequence[PointerMove]:
        with self.state.read() as tx:
            dataset_id = require_dataset(tx, name).dataset_id
            return [
                PointerMove(**{key: row._mapping[key] for key in PointerMove.model_fields})
                for row in pointer_rows(tx, dataset_id)
            ]

    def decision(self, run_id: str) -> Decision:
        with self.state.read() as tx:
            return required_decision(tx, self._run(tx, run_id))

    def samples(self, run_id: str) -> tuple[RowSample, ...]:
        with self.state.read() as tx:
            return samples_of_run(tx, self._run(tx, run_id).run_id)

    def profiles(self, name: DatasetName, version: int | None = None) -> tuple[Profile, ...]:
        from lakeguard.insight.reader.stored_profiles import shown_profiles

        with self.state.read() as tx:
            return shown_profiles(tx, name, version)

    def trends(self, run_id: str, limit: int = 12) -> tuple[CheckTrend, ...]:
        with self.state.read() as tx:
            return check_trends(tx, self._run(tx, run_id), limit)

    def since(self, run_id: str) -> Since | None:
        from lakeguard.insight.comparison.run_cases import since_green

        with self.state.read() as tx:
            return since_green(tx, self._run(tx, run_id))

    def quarantine(self, name: DatasetName | None = None) -> Sequence[QuarantineEntry]:
        with self.state.read() as tx:
            return quarantined_rows(tx, name)

    def quarantine_balance(self, name: DatasetName) -> QuarantineBalance:
        with self.state.read() as tx:
            return balance_of(tx, name)

    def quarantined_rows(
        self, name: DatasetName, choice: QuarantineSelection, limit: int = 20
    ) -> QuarantineListing:
        with self.state.read() as tx:
            order = listing_order(tx, name, choice)
        return read_listing(order, self.lake, limit)

    def waivers(self, name: DatasetName | None = None) -> Sequence[WaiverRow]:
        with self.state.read() as tx:
            dataset_id = None
            if name is not None:
                dataset_id = require_dataset(tx, name).dataset_id
            return waiver_rows(tx, dataset_id)

    def resolve(self, address: Address) -> ResolvedDataset:
        with self.state.read() as tx:
            dataset = require_dataset(tx, address.dataset)
            version = address.version
            if version is None:
                published = pointer(tx, dataset.dataset_id, address.at)
                version = 0 if published is None else published.version
            stored = stored_version(tx, dataset.dataset_id, version)
            if stored is None:
                raise UnknownVersion(dataset=address.dataset, version=address.pin)
            return resolved_version(tx, dataset, stored, self.lake)

    def replay(self, run_id: str) -> ReplayResult:
        from lakeguard.insight.history.replay import replay_decision

        with self.state.read() as tx:
            return replay_decision(tx, self._run(tx, run_id))

    def schemas(self, name: DatasetName, limit: int = 50) -> Sequence[SchemaRow]:
        with self.state.read() as tx:
            dataset_id = require_dataset(tx, name).dataset_id
            return schema_rows(tx, dataset_id, limit)

    def schema_diff(
        self, name: DatasetName, declared: DatasetDefinition | None = None
    ) -> SchemaDiff | None:
        """The difference between the last live schema and the definition; None before any run."""
        with self.state.read() as tx:
            dataset = require_dataset(tx, name)
            seen = schema_rows(tx, dataset.dataset_id, 1)
            if not seen:
                return None
            definition = declared or dataset.definition
            return schema_diff(tx, definition, seen[0])

    def _run(self, tx: Transaction, run_id: str) -> RunRow:
        run = run_row(tx, run_id)
        if run is None:
            raise UnknownRun(run=run_id)
        return run
