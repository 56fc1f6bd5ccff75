"""Verifies the audit: every recorded row is unchanged and in its place.

The rows of facts in the State are compared with the ledger's, the ledger's are hashed to the chain,
and the chain is compared with its copy, with ``plane.json`` and with an exported head.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lakeguard.insight.verification.chain import Rechained
from lakeguard.insight.verification.ledger_health import read_side
from lakeguard.insight.verification.outbox import settled_batch
from lakeguard.insight.verification.row_agreement import Compared, compare, state_side
from lakeguard.relay.chain import GENESIS
from lakeguard.relay.chain_recount import links_in
from lakeguard.relay.deliver import Ledger
from lakeguard.relay.owner import OWNER_FILE, Ownership, ledger_root, read_owner
from lakeguard.relay.stamp import Link, delivered, links_after
from lakeguard.relay.tables import CHAIN, chain_table, fact_tables
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import LedgerUnreadable
from lakeguard_sdk.model.verification import AuditHead, AuditReport, ChangedRow, RowChange

MOST = 50
_LAST = 1 << 62


class _At(NamedTuple):
    """When a row was recorded: links come before the rows of their batch."""

    batch: int
    ordinal: int = -1


def verify_audit(state: OrganisationState, lake: str, exported: AuditHead | None) -> AuditReport:
    """``exported`` is an exported head; its signature is not verified here."""
    return _Audit(state, lake, exported).report()


@dataclass
class _Audit:
    state: OrganisationState
    lake: str
    exported: AuditHead | None
    found: list[tuple[_At, ChangedRow]] = field(default_factory=list)
    rows: int = 0

    def report(self) -> AuditReport:
        owner = self._owner()
        copies = self._copies()
        with self.state.read() as tx:
            settled = settled_batch(copies, owner, delivered(tx))
            links = links_after(tx, 0)
        self._follow(links, {link.batch: link for link in copies or ()})
        self._end(links, copies, owner)
        self._require_owner(links, owner)
        self._compare(links, settled)
        ordered = sorted(self.found, key=lambda each: each[0])
        return AuditReport(
            changed=tuple(changed for _, changed in ordered[:MOST]),
            rows=self.rows,
            batches=len(links),
            head=links[-1].head if links else GENESIS,
            exported=self.exported,
        )

    def _owner(self) -> Ownership | None:
        try:
            return read_owner(ledger_root(self.lake, self.state.org_id))
        except LedgerUnreadable as error:
            self._add(_At(_LAST), RowChange.DAMAGED, OWNER_FILE, str(error))
            return None

    def _require_owner(self, links: Sequence[Link], owner: Ownership | None) -> None:
        """A chain always has an owner file."""
        if owner is None and links and not any(row.place == OWNER_FILE for _, row in self.found):
            self._add(_At(_LAST), RowChange.DELETED, OWNER_FILE, "it is not on the lake")

    def _copies(self) -> list[Link] | None:
        """The ledger's copy of the chain."""
        side, damages = read_side(self._ledger.files(chain_table()), chain_table())
        for damage in damages:
            self._add(_At(0), RowChange.DAMAGED, damage.place, damage.message)
        return None if side is None else links_in(side.data)

    @property
    def _ledger(self) -> Ledger:
        return Ledger(ledger_root(self.lake, self.state.org_id), 1)

    def _follow(self, links: Sequence[Link], copies: dict[int, Link]) -> None:
        """Each link continues the one before, and equals that of the ledger."""
        batches = {link.head: link.batch for link in copies.values()}
        end_of_copy = max(copies, default=0)
        previous, last = GENESIS, 0
        for link in links:
            for batch in range(last + 1, link.batch):
                self._link(batch, RowChange.DELETED, "gone from the chain")
            copy = copies.get(link.batch)
            moved = batches.get(link.head, link.batch)
            if moved != link.batch:
                self._link(link.batch, RowChange.REORDERED, f"it was recorded as batch {moved}")
            elif copy is not None and copy != link:
                names = [n for n in Link._fields if getattr(copy, n) != getattr(link, n)]
                text = f"{', '.join(names)} differ from what the ledger has"
                self._link(link.batch, RowChange.EDITED, text)
            elif copy is None and link.batch < end_of_copy:
                text = "gone from the ledger's copy of the chain"
                self._link(link.batch, RowChange.DELETED, text)
            elif link.batch == last + 1 and link.previous != previous:
                self._link(link.batch, RowChange.EDITED, "it does not follow from the one before")
            previous, last = link.head, link.batch

    def _end(
        self, links: Sequence[Link], copies: Sequence[Link] | None, owner: Ownership | None
    ) -> None:
        """Both copies of the chain reach every known head."""
        heads = {link.batch: link.head for link in links}
        last, exported = max(heads, default=0), self.exported
        known = {"the ledger": max((link.batch for link in copies or ()), default=0)}
        known[OWNER_FILE] = owner.batch if owner else 0
        known["the exported head"] = exported.batch if exported else 0
        witness = max(known, key=lambda name: known[name])
        if known[witness] > last:
            text = f"the chain ends at batch {last}, {witness} has batch {known[witness]}"
            self._link(last + 1, RowChange.TRUNCATED, text)
        if exported:
            self._same_head(heads, exported.batch, exported.head, "was exported")
        if owner:
            self._same_head(heads, owner.batch, owner.head, f"{OWNER_FILE} has")
        self._end_of_copy(copies, owner)

    def _same_head(self, heads: Mapping[int, str], batch: int, head: str, whose: str) -> None:
        """Heads beyond the end of the chain are reported as truncation instead."""
        if batch <= max(heads, default=0) and {0: GENESIS, **heads}.get(batch) != head:
            self._link(batch, RowChange.EDITED, f"its head differs from the one that {whose}")

    def _end_of_copy(self, copies: Sequence[Link] | None, owner: Ownership | None) -> None:
        ends = max((link.batch for link in copies or ()), default=0)
        needed = max(owner.batch if owner else 0, self.exported.batch if self.exported else 0)
        if copies is not None and ends < needed:
            text = f"the ledger's copy of the chain ends at batch {ends}, expected {needed}"
            self._link(ends + 1, RowChange.TRUNCATED, text)

    def _compare(self, links: Sequence[Link], settled: int) -> None:
        rechained, strange = Rechained(), dict[int, str]()
        whole = True
        for table in fact_tables().values():
            here = state_side(self.state, table, settled)
            there, damages = read_side(self._ledger.files(table), table)
            for damage in damages:
                self._add(_At(_LAST), RowChange.DAMAGED, damage.place, damage.message)
            self.rows += len(here.held)
            if there is None:
                whole = False
                continue
            compared = compare(self.state, here, there)
            for at, changed in _changes(compared):
                self.found.append((at, changed))
                strange.setdefault(at.batch, changed.place)
            rechained.add(there)
        rechained.close()
        if whole:
            self._hash(links, rechained, settled, strange)

    def _hash(
        self,
        links: Sequence[Link],
        rechained: Rechained,
        settled: int,
        strange: dict[int, str],
    ) -> None:
        """The ledger's rows of each batch hash to its link. If they do not, but both sides have the
        same rows, these were reordered."""
        for link in links:
            if link.batch > settled or rechained.head(link) == link.head:
                continue
            found = rechained.rows(link.batch)
            place = strange.get(link.batch, f"rows of batch {link.batch} in the ledger")
            if link.batch in strange:
                change = RowChange.EDITED
            elif found != link.rows:
                change = RowChange.DELETED if found < link.rows else RowChange.ADDED
            else:
                change = RowChange.REORDERED
            text = f"the ledger's rows of batch {link.batch} do not hash to its link"
            self._add(_At(link.batch, _LAST), change, place, f"{text} ({found} of {link.rows})")

    def _link(self, batch: int, change: RowChange, message: str) -> None:
        self._add(_At(batch), change, f"{CHAIN} {batch}", message)

    def _add(self, at: _At, change: RowChange, place: str, message: str) -> None:
        self.found.append((at, ChangedRow(change=change, place=place, message=message)))


def _changes(compared: Compared) -> Iterator[tuple[_At, ChangedRow]]:
    for finding in compared.findings:
        batch, ordinal = compared.recorded.get(finding.place, (_LAST, 0))
        change = compared.changes.get(finding.place, RowChange.ADDED)
        changed = ChangedRow(change=change, place=finding.place, message=finding.message)
        yield _At(batch, ordinal), changed
