"""The ledger port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lakeguard.ledger.table_findings import open_finding
from lakeguard.ledger.versions import Pointer, pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import RegisteredDataset, dataset_by_id
from lakeguard.relay.relay import Relay
from lakeguard_sdk.core.enums import TableProblem
from lakeguard_sdk.errors import (
    LedgerMissing,
    LedgerOlder,
    LedgerUnreadable,
    StateError,
    StateForked,
    StateOlder,
)
from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.model.verification import Finding, FindingKind, Synced, VerifyReport


@dataclass(frozen=True)
class EmbeddedLedger:
    context: PlaneContext
    relay: Relay

    def sync(self) -> Synced:
        return self.relay.drain()

    def verify(
        self,
        *,
        replay: bool = False,
        head: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> VerifyReport:
        """Delivers pending rows first, so that they do not count as differences; if that fails,
        the report shows why."""
        from lakeguard.insight.verification import verify

        owned = False
        with suppress(StateOlder, StateForked, LedgerMissing, LedgerOlder, LedgerUnreadable):
            self.relay.drain()
            owned = True
        context = self.context
        return verify(
            context,
            context.lake,
            context.tables,
            replay=replay,
            head=head,
            progress=progress,
            quarantine_tables=context.quarantine_tables,
            on_table=self._note if owned else None,
        )

    def _note(self, dataset_id: str, findings: Sequence[Finding]) -> None:
        """Record what is wrong with a table, or that nothing is any more. The report does not
        depend on it."""
        with suppress(StateError):
            self._record(dataset_id, findings)

    def _record(self, dataset_id: str, findings: Sequence[Finding]) -> None:
        with self.context.read() as tx:
            known = open_finding(tx, dataset_id)
            dataset, published = dataset_by_id(tx, dataset_id), pointer(tx, dataset_id)
        if not findings and (known is None or self._blocks(dataset, published)):
            return
        from lakeguard.promotion.records.table_findings import (
            TableTrouble,
            note_recovery,
            note_trouble,
        )

        with self.context.write() as tx:
            if not findings:
                message = "verify found the table as it was published"
                note_recovery(tx, self.context, dataset, message, by="verify")
                return
            first = findings[0]
            damaged = first.kind is FindingKind.FILE
            problem = TableProblem.DAMAGE if damaged else TableProblem.LOG
            trouble = TableTrouble(dataset, problem, f"{first.place}: {first.message}")
            note_trouble(tx, self.context, trouble, by="verify")

    def _blocks(self, dataset: RegisteredDataset, published: Pointer | None) -> bool:
        """Whether runs are refused still: they also refuse a commit that is proved neutral."""
        from lakeguard.promotion.opening.eligibility import Findings, find_rogue_commit

        found = Findings()
        find_rogue_commit(self.context, dataset, published, found)
        return bool(found.troubles)

    def data_places(self) -> Sequence[DataPlace]:
        from lakeguard.insight.verification.delivered import data_places

        with self.context.read() as tx:
            return data_places(tx)

    def judge_markers(self, found: Sequence[PlaceMarkers]) -> Sequence[Finding]:
        from lakeguard.insight.verification.delivered import judge_markers

        with self.context.read() as tx:
            return list(judge_markers(tx, found))

    def undelivered(self, found: Sequence[PlaceMarkers]) -> Sequence[Delivery]:
        from lakeguard.insight.verification.delivered import undelivered

        with self.context.read() as tx:
            return list(undelivered(tx, found))
