"""COMMIT: everything that a governed table shows was decided, and the table shows all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lakeguard.insight.verifying.moves import Governed, Move
from lakeguard.insight.verifying.neutrality import why_not_neutral
from lakeguard.insight.verifying.side_by_side import side_by_side
from lakeguard.lake.port import GovernedTables
from lakeguard_sdk.canonical import hash_bytes
from lakeguard_sdk.commits import TABLE_PROPERTIES, Commit, parse_commit
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.proof import Finding, FindingKind
from lakeguard_sdk.storage import join, local_path

_PART = 2_000


@dataclass
class LogReading:
    """One table's log against the State: what was found, and what it shows if nothing was."""

    location: str
    governed: Governed
    commits: int = 0
    moving: bool = False
    """A move is under way: what the head shows is about to be recorded."""
    shown: set[str] = field(default_factory=set)
    foreign: list[tuple[Commit, str]] = field(default_factory=list)

    def findings(self, tables: GovernedTables) -> Iterator[Finding]:
        """Every commit in turn, then the head."""
        if not tables.exists(self.location):
            yield self._table_finding("expected a Delta table, found none")
            return
        found = list(self._commits())
        undone = max((m.commit for m in self.governed.moves if _restores(m)), default=-1)
        for commit, why in self.foreign:
            if commit.version > undone:
                found.append(self._finding(commit.version, _said(commit, why)))
        yield from found
        if not found and not self.moving:
            yield from self._pointer()
            yield from self._head(tables)

    def _commits(self) -> Iterator[Finding]:
        known = self.governed.by_commit
        restored = {m.target_commit for m in self.governed.moves if m.target_commit is not None}
        seen: dict[int, set[str]] = {}
        for version, data in self._log(max(known, default=0)):
            self.commits += 1
            move = known.get(version)
            if data is None:
                yield self._finding(version, "expected in the log, found no file")
            elif version == 0:
                yield from self._creation(data)
            elif move is not None and hash_bytes(data) == move.sha256:
                self._show(move, seen)
            elif move is not None:
                said = f"expected {move.sha256}, found {hash_bytes(data)}"
                yield self._finding(version, f"the commit file was altered: {said}")
            else:
                yield from self._unknown(version, data)
            if version in restored:
                seen[version] = set(self.shown)

    def _log(self, recorded: int) -> Iterator[tuple[int, bytes | None]]:
        """Every commit file; None for one that is missing below a later one."""
        log, start = local_path(join(self.location, "_delta_log")), 0

        def read(version: int) -> bytes | None:
            try:
                with open(f"{log}/{version:020d}.json", "rb") as file:
                    return file.read()
            except FileNotFoundError:
                return None

        while True:
            part = range(start, start + _PART)
            found = list(side_by_side(read, part))
            last = max((version for version, data in found if data is not None), default=-1)
            ends = last < part[-1] and recorded <= part[-1]
            upto = max(last, recorded) if ends else part[-1]
            yield from (pair for pair in found if pair[0] <= upto)
            if ends:
                return
            start += _PART

    def _creation(self, data: bytes) -> Iterator[Finding]:
        try:
            first = parse_commit(0, data)
        except ValueError as error:
            yield self._finding(0, f"not readable: {error}")
            return
        author = first.author.dataset_id if first.author else "somebody else"
        if author != self.governed.dataset_id or first.table_id != self.governed.table_id:
            expected = f"table {self.governed.table_id} of dataset {self.governed.dataset_id}"
            found = f"table {first.table_id} of {author}"
            yield self._finding(0, f"expected {expected}, found {found}")
        elif first.added or first.seq != 0:
            yield self._finding(0, "expected an empty table at number 0, found data")

    def _unknown(self, version: int, data: bytes) -> Iterator[Finding]:
        """A commit that no outcome records: a fence's kin, a move under way, or a stranger."""
        try:
            commit = parse_commit(version, data)
        except (ValueError, KeyError) as error:
            yield self._finding(version, f"not readable: {error}")
            return
        if not commit.data_changing:
            return
        if commit.author is not None and commit.author.intent_id in self.governed.under_way:
            self.moving = True
            return
        why = why_not_neutral(self.location, version, data, frozenset(self.shown))
        if why is not None:
            self.foreign.append((commit, why))
            return
        self.shown -= set(commit.removes)
        self.shown |= set(commit.adds)

    def _show(self, move: Move, seen: dict[int, set[str]]) -> None:
        if not move.committed:
            return
        if move.target_commit is not None:
            self.shown = set(seen.get(move.target_commit, self.shown))
        else:
            self.shown -= set(move.removes)
            self.shown |= {file.path for file in move.adds}

    def _pointer(self) -> Iterator[Finding]:
        moved = [move.commit for move in self.governed.moves if move.committed]
        expected = moved[-1] if moved else None
        if self.governed.published != expected:
            said = f"commit {self.governed.published}, the last move made commit {expected}"
            yield self._table_finding(f"the published pointer names {said}")

    def _head(self, tables: GovernedTables) -> Iterator[Finding]:
        try:
            head = tables.head_version(self.location)
            found = tables.files_at(self.location, head)
            kept = tables.keeps_properties(self.location, head)
        except TableUnreadable as error:
            yield self._table_finding(f"not readable: {error}")
            return
        if head >= self.commits:
            self.moving = True
            return
        more, less = sorted(found - self.shown), sorted(self.shown - found)
        if more or less:
            named = (more + less)[0]
            said = (
                f"{len(more)} files more and {len(less)} less than were published, such as {named}"
            )
            yield self._finding(head, f"the table shows {said}")
        if not kept:
            expected = ", ".join(sorted(TABLE_PROPERTIES))
            yield self._finding(head, f"expected the properties set at creation ({expected})")

    def _finding(self, version: int, message: str) -> Finding:
        place = f"{self.governed.location} commit {version}"
        return Finding(kind=FindingKind.COMMIT, place=place, message=message)

    def _table_finding(self, message: str) -> Finding:
        return Finding(kind=FindingKind.COMMIT, place=self.governed.location, message=message)


def _restores(move: Move) -> bool:
    """What came before a restore is not shown any more."""
    return move.committed and move.target_commit is not None


def _said(commit: Commit, why: str) -> str:
    return f"{commit.operation or 'an unknown operation'} without a decision: {why}"
