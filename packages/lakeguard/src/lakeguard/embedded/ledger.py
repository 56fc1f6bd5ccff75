"""The ledger port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from lakeguard.promotion.heart import Heart
from lakeguard.relay.relay import Relay
from lakeguard_sdk.ledger_errors import (
    LedgerGone,
    LedgerOlder,
    LedgerUnreadable,
    StateForked,
    StateOlder,
)
from lakeguard_sdk.proof import Synced, VerifyReport


@dataclass(frozen=True)
class EmbeddedLedger:
    heart: Heart
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
        """What is told and not delivered yet is no difference, so that it is delivered first; where
        it cannot be, the proof itself says why."""
        from lakeguard.insight.verifying import verify

        with suppress(StateOlder, StateForked, LedgerGone, LedgerOlder, LedgerUnreadable):
            self.relay.drain()
        heart = self.heart
        return verify(
            heart.database,
            heart.lake,
            heart.org_id,
            heart.tables,
            replay=replay,
            head=head,
            progress=progress,
            kept=heart.kept,
        )
