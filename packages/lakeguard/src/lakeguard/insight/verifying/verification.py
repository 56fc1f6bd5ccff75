"""All checks in turn, over one State and its lake. Nothing is changed, nothing stops at a find.

No transaction on the State is longer than one pass over one table; documents and decisions are read
page by page and thought about in between. Who writes to a SQLite State waits that long at most.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from lakeguard.insight.verifying.agreement import StateSide, compare, state_side
from lakeguard.insight.verifying.chain import Chains, Rechained, chain_findings
from lakeguard.insight.verifying.commits import LogReading
from lakeguard.insight.verifying.documents import document_findings
from lakeguard.insight.verifying.files import file_findings
from lakeguard.insight.verifying.guards import guard_findings
from lakeguard.insight.verifying.history import history_findings
from lakeguard.insight.verifying.ledger_health import LedgerReading, beyond, read_side
from lakeguard.insight.verifying.moves import governed_ids, governed_table
from lakeguard.insight.verifying.partitions import partition_findings
from lakeguard.insight.verifying.quarantine import quarantine_findings
from lakeguard.insight.verifying.replays import replay_findings
from lakeguard.insight.verifying.sides import LedgerSide
from lakeguard.insight.verifying.tally import Tally
from lakeguard.insight.verifying.truncation import truncation_findings
from lakeguard.insight.verifying.waiting import queue_findings, settled_batch
from lakeguard.lake.kept_tables import DeltaKeptTables, KeptTables
from lakeguard.lake.port import GovernedTables
from lakeguard.relay.catalogue import chain_table, derived_tables, fact_tables
from lakeguard.relay.chain import GENESIS
from lakeguard.relay.delivering import Ledger
from lakeguard.relay.owner import OWNER_FILE, Ownership, ledger_root, read_owner
from lakeguard.relay.recounting import links_in
from lakeguard.relay.stamping import Link, delivered, last_link, links_after
from lakeguard.state.database import Database
from lakeguard_sdk.errors import LedgerUnreadable
from lakeguard_sdk.proof import Finding, FindingKind, VerifyReport
from lakeguard_sdk.storage import located

Progress = Callable[[str], None]


def verify(
    database: Database,
    lake: str,
    org_id: str,
    tables: GovernedTables,
    *,
    replay: bool,
    head: str | None,
    progress: Progress | None,
    kept: KeptTables | None = None,
) -> VerifyReport:
    """``head`` is one that somebody kept: it must be in the chain. The relay was drained before."""
    proof = _Proof(database, lake, org_id, tables, progress or (lambda _: None))
    owner = proof.read_owner()
    with _uncollected():
        links = proof.check_ledger(owner)
    proof.tally.add(truncation_findings(links, owner, head))
    proof.check_tables(compare=replay)
    proof.check_quarantine(kept or DeltaKeptTables())
    proof.check_state(replay=replay)
    return VerifyReport(
        findings=proof.tally.findings(),
        rows=proof.rows,
        batches=len(links),
        tables=proof.tables_compared,
        commits=proof.commits,
        files=proof.files,
        decisions=proof.decisions,
        head=links[-1].head if links else GENESIS,
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Millions of rows make no cycles; looking for some among them takes a sixth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass
class _Proof:
    database: Database
    lake: str
    org_id: str
    governed: GovernedTables
    tell: Progress
    tally: Tally = field(default_factory=Tally)
    rows: int = 0
    tables_compared: int = 0
    commits: int = 0
    files: int = 0
    decisions: int = 0

    @property
    def ledger(self) -> Ledger:
        return Ledger(ledger_root(self.lake, self.org_id), 1)

    def read_owner(self) -> Ownership | None:
        """Before the State is read: that can only be ahead of what the owner's file tells."""
        root = ledger_root(self.lake, self.org_id)
        try:
            owner = read_owner(root)
        except LedgerUnreadable as error:
            self._found(FindingKind.LEDGER, OWNER_FILE, str(error))
            return None
        if owner is None:
            self._found(FindingKind.LEDGER, OWNER_FILE, "expected the owner's file, found none")
        return owner

    def check_ledger(self, owner: Ownership | None) -> list[Link]:
        """ROW, LEDGER and CHAIN; answers the State's chain.

        Each is read after those that can only be behind it: the mark, the ledger's chain, the
        State's.
        """
        with self.database.read() as connection:
            marked = delivered(connection, self.org_id)
        told = self._ledger_links()
        settled = settled_batch(told, owner, marked)
        with self.database.read() as connection:
            links, org_id = links_after(connection, self.org_id, 0), self.org_id
            marked = delivered(connection, org_id)
            self.tally.add(queue_findings(connection, org_id, links, settled, marked))
        rechained, strange, later = Rechained(), dict[int, list[str]](), dict[str, list[int]]()
        unread: set[str] = set()
        for state, ledger, damages in self._both_sides(settled):
            name = state.table.name
            self.tally.add(damages)
            self.rows += len(state.held)
            self.tables_compared += 1
            self.decisions += len(state.held) if name == "decisions" else 0
            if ledger is None:
                unread.add(name)
                continue
            compared = compare(self.database, state, ledger)
            self.tally.add(compared.findings)
            later[name] = [batch for batch in ledger.batches if batch > settled]
            if name in fact_tables():
                rechained.add(ledger)
                for batch, places in compared.strange.items():
                    strange.setdefault(batch, []).extend(places)
        self.tell("following the chain")
        rechained.close()
        chains = Chains(
            state=links,
            ledger=told,
            rechained=rechained,
            settled=settled,
            unread=frozenset(unread),
            strange=strange,
        )
        self.tally.add(chain_findings(chains))
        self.tally.add(self._beyond(later))
        return links

    def _both_sides(
        self, settled: int
    ) -> Iterator[tuple[StateSide, LedgerSide | None, Sequence[Finding]]]:
        """Table by table; the ledger's side of one is read beside the State's of the next."""
        waiting: deque[tuple[StateSide, Future[LedgerReading]]] = deque()
        with ThreadPoolExecutor(1) as pool:
            for name, table in {**fact_tables(), **derived_tables()}.items():
                self.tell(f"comparing {name}")
                state = state_side(self.database, self.org_id, table, settled)
                reading = pool.submit(read_side, self.ledger.files(table), table)
                if waiting:
                    before, read = waiting.popleft()
                    yield before, *read.result()
                waiting.append((state, reading))
            for before, read in waiting:
                yield before, *read.result()

    def check_tables(self, *, compare: bool) -> None:
        """COMMIT and FILE; where asked for, the rows before and after each compaction too."""
        with self.database.read() as connection:
            datasets = governed_ids(connection, self.org_id)
        for dataset_id in datasets:
            self._check_table(dataset_id, compare)

    def check_quarantine(self, kept: KeptTables) -> None:
        """Rows that were set aside: HISTORY, FILE and COMMIT."""
        self.tell("checking rows that were set aside")
        self.tally.add(quarantine_findings(self.database, self.org_id, self.lake, kept))

    def check_state(self, *, replay: bool) -> None:
        """DOCUMENT, HISTORY and, where asked for, REPLAY."""
        checks = {
            "documents": document_findings,
            "history": history_findings,
            "partitions": partition_findings,
            "guards": guard_findings,
        }
        if replay:
            checks["decisions, made again"] = replay_findings
        for what, findings in checks.items():
            self.tell(f"checking {what}")
            self.tally.add(findings(self.database, self.org_id))

    def _check_table(self, dataset_id: str, compare: bool) -> None:
        """What was found is looked at twice: a run may have moved the table in between."""
        with self.database.read() as connection:
            governed = governed_table(connection, dataset_id)
        self.tell(f"checking {governed.location}")
        location = located(self.lake, governed.location)
        reading = LogReading(location, governed, compare=compare)
        found = list(reading.findings(self.governed))
        if found:
            with self.database.read() as connection:
                governed = governed_table(connection, dataset_id)
            second = LogReading(location, governed, compare=compare)
            again = set(second.findings(self.governed))
            found = [finding for finding in found if finding in again]
        self.tally.add(found)
        self.commits += reading.commits
        self.files += len(governed.files)
        self.tally.add(file_findings(location, governed, reading.shown))

    def _ledger_links(self) -> list[Link] | None:
        side, damages = read_side(self.ledger.files(chain_table()), chain_table())
        self.tally.add(damages)
        if side is None:
            return None
        try:
            return links_in(side.data)
        except (ValueError, TypeError) as error:
            self._found(FindingKind.LEDGER, chain_table().name, f"not readable: {error}")
            return None

    def _beyond(self, later: dict[str, list[int]]) -> Iterator[Finding]:
        """Batches may have been added since; rows of none that exists by now are nobody's."""
        with self.database.read() as connection:
            link = last_link(connection, self.org_id)
        last = link.batch if link else 0
        for name, batches in later.items():
            nobodys = [batch for batch in batches if batch > last]
            if nobodys:
                yield beyond(name, max(nobodys), len(nobodys), last)

    def _found(self, kind: FindingKind, place: str, message: str) -> None:
        self.tally.add([Finding(kind=kind, place=place, message=message)])
