"""The ledger port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lakeguard.promotion.context import PlaneContext
from lakeguard.relay.relay import Relay
from lakeguard_sdk.errors import (
    LedgerMissing,
    LedgerOlder,
    LedgerUnreadable,
    StateForked,
    StateOlder,
)
from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.model.verification import Finding, Synced, VerifyReport


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

        with suppress(StateOlder, StateForked, LedgerMissing, LedgerOlder, LedgerUnreadable):
            self.relay.drain()
        context = self.context
        return verify(
            context,
            context.lake,
            context.tables,
            replay=replay,
            head=head,
            progress=progress,
            quarantine_tables=context.quarantine_tables,
        )

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
