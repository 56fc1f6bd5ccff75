"""Runs all checks over one State and its lake. Nothing is changed; findings do not stop it.

No transaction lasts longer than one pass over one table; documents and decisions are read in pages.
Writers of a SQLite State wait at most that long.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from sqlalchemy import select

from lakeguard.insight.verification.chain import Chains, Rechained, chain_findings
from lakeguard.insight.verification.commits import LogReading
from lakeguard.insight.verification.documents import document_findings
from lakeguard.insight.verification.files import file_findings
from lakeguard.insight.verification.history import history_findings
from lakeguard.insight.verification.ledger_health import (
    LedgerReading,
    beyond,
    read_side,
    truncation_findings,
)
from lakeguard.insight.verification.outbox import queue_findings, settled_batch
from lakeguard.insight.verification.quarantine import quarantine_findings
from lakeguard.insight.verification.row_agreement import StateSide, compare, state_side
from lakeguard.insight.verification.row_sides import LedgerSide
from lakeguard.insight.verification.source_files import source_file_findings
from lakeguard.lake.port import GovernedTables, QuarantineTables
from lakeguard.lake.quarantine_tables import DeltaQuarantineTables
from lakeguard.ledger.known_moves import governed_ids, governed_table
from lakeguard.ledger.partitions import partitions_at
from lakeguard.ledger.versions import pointer, require_version
from lakeguard.registry.store import dataset_by_id
from lakeguard.relay.chain import GENESIS
from lakeguard.relay.chain_recount import links_in
from lakeguard.relay.deliver import Ledger
from lakeguard.relay.owner import OWNER_FILE, Ownership, ledger_root, read_owner
from lakeguard.relay.stamp import (
    Link,
    delivered,
    last_link,
    links_after,
)
from lakeguard.relay.tables import chain_table, derived_tables, fact_tables
from lakeguard.state.append_only_triggers import missing_guards
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import partition_versions
from lakeguard_sdk.errors import LedgerUnreadable
from lakeguard_sdk.model.verification import Finding, FindingKind, VerifyReport
from lakeguard_sdk.storage.storage import join, located

# Findings: all are counted, the first of each kind are kept.

MOST_OF_A_KIND = 50
_LEDGER_READERS = 2
"""Tables of the ledger that are read at once: opening one takes longer than reading its rows."""


class Tally:
    """Findings of one verification."""

    def __init__(self) -> None:
        self.counted: Counter[FindingKind] = Counter()
        self._findings: dict[FindingKind, list[Finding]] = {kind: [] for kind in FindingKind}

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            of_kind = self._findings[finding.kind]
            self.counted[finding.kind] += 1
            if len(of_kind) < MOST_OF_A_KIND:
                of_kind.append(finding)

    def findings(self) -> tuple[Finding, ...]:
        """Findings by kind, in order; the rest are summarised in a last one."""
        found: list[Finding] = []
        for kind, of_kind in self._findings.items():
            found += of_kind
            more = self.counted[kind] - len(of_kind)
            if more:
                found.append(Finding(kind=kind, place="…", message=f"… and {more:,} more"))
        return tuple(found)


Progress = Callable[[str], None]
OnTable = Callable[[str, Sequence[Finding]], None]
"""Called with the dataset's id and the findings about its commits and visible files."""


def verify(
    state: OrganisationState,
    lake: str,
    tables: GovernedTables,
    *,
    replay: bool,
    head: str | None,
    progress: Progress | None,
    quarantine_tables: QuarantineTables | None = None,
    on_table: OnTable | None = None,
) -> VerifyReport:
    """``head`` was noted down earlier and must be in the chain. The relay is drained before.

    ``on_table`` gets what was found wrong with what each governed table shows.
    """
    proof = _Proof(state, lake, tables, progress or (lambda _: None), on_table=on_table)
    owner = proof.read_owner()
    links = proof.check_ledger(owner)
    proof.tally.add(truncation_findings(links, owner, head))
    proof.check_tables(compare=replay)
    proof.check_quarantine(quarantine_tables or DeltaQuarantineTables())
    proof.check_state(replay=replay)
    return VerifyReport(
        findings=proof.tally.findings(),
        rows=proof.rows,
        facts=proof.facts,
        batches=len(links),
        tables=proof.tables_compared,
        commits=proof.commits,
        files=proof.files,
        decisions=proof.decisions,
        head=links[-1].head if links else GENESIS,
    )


@dataclass
class _Proof:
    state: OrganisationState
    lake: str
    governed: GovernedTables
    progress: Progress
    on_table: OnTable | None = None
    tally: Tally = field(default_factory=Tally)
    rows: int = 0
    facts: int = 0
    tables_compared: int = 0
    commits: int = 0
    files: int = 0
    decisions: int = 0

    @property
    def ledger(self) -> Ledger:
        return Ledger(ledger_root(self.lake, self.state.org_id), 1)

    def read_owner(self) -> Ownership | None:
        """Read before the State, which can then only be ahead of plane.json."""
        root = ledger_root(self.lake, self.state.org_id)
        try:
            owner = read_owner(root)
        except LedgerUnreadable as error:
            self._found(FindingKind.LEDGER, OWNER_FILE, str(error))
            return None
        if owner is None:
            self._found(FindingKind.LEDGER, OWNER_FILE, "expected the owner's file, found none")
        return owner

    def check_ledger(self, owner: Ownership | None) -> list[Link]:
        """ROW, LEDGER and CHAIN; returns the State's chain.

        Read in the order in which they can lag: cursor, ledger's chain, State's chain.
        """
        with self.state.read() as tx:
            marked = delivered(tx)
        ledger_links = self._ledger_links()
        settled = settled_batch(ledger_links, owner, marked)
        with self.state.read() as tx:
            links, _org_id = links_after(tx, 0), tx.org_id
            marked = delivered(tx)
            self.tally.add(queue_findings(tx, links, settled, marked))
        rechained, strange, later = Rechained(), dict[int, list[str]](), dict[str, list[int]]()
        unread: set[str] = set()
        for state, ledger, damages in self._both_sides(settled):
            name = state.table.name
            self.tally.add(damages)
            self.rows += len(state.held)
            self.facts += len(state.held) if name in fact_tables() else 0
            self.tables_compared += 1
            self.decisions += len(state.held) if name == "decisions" else 0
            if ledger is None:
                unread.add(name)
                continue
            compared = compare(self.state, state, ledger)
            self.tally.add(compared.findings)
            later[name] = [batch for batch in ledger.batches if batch > settled]
            if name in fact_tables():
                rechained.add(ledger)
                for batch, places in compared.strange.items():
                    strange.setdefault(batch, []).extend(places)
        self.progress("following the chain")
        rechained.close()
        chains = Chains(
            state=links,
            ledger=ledger_links,
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
        """Table by table; ledger sides are read alongside the State sides of the next tables."""
        waiting: deque[tuple[StateSide, Future[LedgerReading]]] = deque()
        with ThreadPoolExecutor(_LEDGER_READERS) as pool:
            for name, table in {**fact_tables(), **derived_tables()}.items():
                self.progress(f"comparing {name}")
                state = state_side(self.state, table, settled)
                reading = pool.submit(read_side, self.ledger.files(table), table)
                if len(waiting) == _LEDGER_READERS:
                    before, read = waiting.popleft()
                    yield before, *read.result()
                waiting.append((state, reading))
            for before, read in waiting:
                yield before, *read.result()

    def check_tables(self, *, compare: bool) -> None:
        """COMMIT and FILE; on request also the rows before and after each compaction."""
        with self.state.read() as tx:
            datasets = governed_ids(tx)
        for dataset_id in datasets:
            self._check_table(dataset_id, compare)

    def check_quarantine(self, tables: QuarantineTables) -> None:
        """HISTORY, FILE and COMMIT of quarantined rows."""
        self.progress("checking quarantined rows")
        self.tally.add(quarantine_findings(self.state, self.lake, tables))

    def check_state(self, *, replay: bool) -> None:
        """DOCUMENT, HISTORY and, on request, REPLAY."""
        checks = {
            "documents": document_findings,
            "history": history_findings,
            "partitions": _partition_findings,
            "source files": source_file_findings,
            "guards": _guard_findings,
        }
        if replay:
            checks["decisions, made again"] = _replay_findings
        for what, findings in checks.items():
            self.progress(f"checking {what}")
            self.tally.add(findings(self.state))

    def _check_table(self, dataset_id: str, compare: bool) -> None:
        """Findings are checked twice: a run may have published in between."""
        with self.state.read() as tx:
            governed = governed_table(tx, dataset_id)
        self.progress(f"checking {governed.location}")
        location = located(self.lake, governed.location)
        reading = LogReading(location, governed, compare=compare)
        found = list(reading.findings(self.governed))
        if found:
            with self.state.read() as tx:
                governed = governed_table(tx, dataset_id)
            second = LogReading(location, governed, compare=compare)
            again = set(second.findings(self.governed))
            found = [finding for finding in found if finding in again]
        self.tally.add(found)
        self.commits += reading.commits
        self.files += len(governed.files)
        files = list(file_findings(location, governed, reading.shown))
        self.tally.add(files)
        if self.on_table is not None:
            root = join(governed.location, "")
            seen = [item for item in files if item.place.removeprefix(root) in reading.shown]
            self.on_table(dataset_id, [*found, *seen])

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
        """Rows of batches that still do not exist; batches may have been added since."""
        with self.state.read() as tx:
            link = last_link(tx)
        last = link.batch if link else 0
        for name, batches in later.items():
            nobodys = [batch for batch in batches if batch > last]
            if nobodys:
                yield beyond(name, max(nobodys), len(nobodys), last)

    def _found(self, kind: FindingKind, place: str, message: str) -> None:
        self.tally.add([Finding(kind=kind, place=place, message=message)])


# HISTORY: the append-only triggers exist.


def _guard_findings(state: OrganisationState) -> Iterator[Finding]:
    """Checked for the whole State: triggers are not per organisation."""
    with state.read() as tx:
        missing = sorted(missing_guards(tx.connection))
    for name in missing:
        message = "expected the trigger that makes its table append-only, found none"
        yield Finding(kind=FindingKind.HISTORY, place=name, message=message)


# REPLAY: every decision is reproduced from its recorded inputs.


def _replay_findings(state: OrganisationState) -> Iterator[Finding]:
    """Decisions are replayed between read transactions, never inside one."""
    from lakeguard.insight.history.documents import Library
    from lakeguard.insight.history.replay import Replayer, difference, recorded_decisions

    library = Library(state.org_id)
    replayer = Replayer(library)
    for row in recorded_decisions(state, library):
        if message := difference(replayer, row):
            place = f"decisions {row.decision_id}"
            yield Finding(kind=FindingKind.REPLAY, place=place, message=message)


# HISTORY: the partitions of a published version add up to its rows.


def _partition_findings(state: OrganisationState) -> Iterator[Finding]:
    """Only partitioned datasets; a version may predate partitioning."""
    table = partition_versions.c
    with state.read() as tx:
        recorded = set(
            tx.scalars(select(table.dataset_id).where(table.org_id == tx.org_id).distinct())
        )
    for dataset_id in sorted(recorded):
        with state.read() as tx:
            shown = pointer(tx, dataset_id)
            if shown is None:
                continue
            last = require_version(tx, dataset_id, shown.version)
            found = partitions_at(tx, dataset_id, last.version)
            name = dataset_by_id(tx, dataset_id).name
        rows = sum(stored.rows for stored in found.values())
        if found and rows != last.table_rows:
            message = f"expected {last.table_rows:,} rows, found {rows:,} in its partitions"
            place = f"{name}@v{last.version}"
            yield Finding(kind=FindingKind.HISTORY, place=place, message=message)
