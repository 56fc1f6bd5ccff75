"""The audit port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from lakeguard.relay.chain import GENESIS
from lakeguard.relay.relay import Relay
from lakeguard.relay.signed_head import SigningKey
from lakeguard.relay.stamp import last_link
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import (
    AuditHeadRefused,
    LedgerMissing,
    LedgerOlder,
    LedgerUnreadable,
    StateForked,
    StateOlder,
)
from lakeguard_sdk.model.verification import AuditHead, AuditReport, AuditRow, SignedHead


@dataclass(frozen=True)
class EmbeddedAudit:
    state: OrganisationState
    relay: Relay
    key: SigningKey

    def rows(
        self,
        *,
        since: datetime | None = None,
        actor: str | None = None,
        dataset: DatasetName | None = None,
        limit: int = 50,
    ) -> Sequence[AuditRow]:
        from lakeguard.insight.reader.audit_rows import AuditFilter, audit_rows

        with self.state.read() as tx:
            return audit_rows(tx, AuditFilter(since, actor, dataset, limit))

    def verify(self, head: SignedHead | None = None) -> AuditReport:
        """Delivers pending rows first; if that fails, the report shows why."""
        from lakeguard.insight.verification.audit import verify_audit

        if head is not None:
            self._check(head)
        with suppress(StateOlder, StateForked, LedgerMissing, LedgerOlder, LedgerUnreadable):
            self.relay.drain()
        report = verify_audit(self.state, self.relay.lake, None if head is None else head.head)
        return report.model_copy(update={"signed_by": "" if head is None else head.key})

    def head(self) -> SignedHead:
        """Delivers pending rows first, so that the head covers everything committed so far."""
        self.relay.drain()
        with self.state.read() as tx:
            link = last_link(tx)
        head = AuditHead(
            organisation=self.state.org_id,
            batch=link.batch if link else 0,
            head=link.head if link else GENESIS,
            at=self.state.clock(),
        )
        return self.key.sign(head)

    def _check(self, signed: SignedHead) -> None:
        self.key.check(signed)
        organisation = signed.head.organisation
        if organisation != self.state.org_id:
            raise AuditHeadRefused(reason=f"it is of organisation {organisation}")
