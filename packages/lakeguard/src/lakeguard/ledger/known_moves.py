"""A governed table as the State knows it: decided commits and their files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import select

from lakeguard.lake.table_view import ShownFile
from lakeguard.ledger.intents import IntentOutcome
from lakeguard.ledger.maintenance import removed_paths
from lakeguard.state.schema import (
    dataset_pointers,
    governed_tables,
    intent_outcomes,
    intents,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.types.schema import TableSchema


class PublishedFile(NamedTuple):
    """A file added by a move, as its intent recorded it."""

    path: str
    size: int
    sha256: str
    stats: str
    partition: Mapping[str, str | None]

    @property
    def shown(self) -> ShownFile:
        return ShownFile(self.path, self.size, self.stats, self.partition)


class Move(NamedTuple):
    """An intent and its outcome."""

    intent_id: str
    outcome: str | None
    commit: int
    sha256: str
    adds: tuple[PublishedFile, ...]
    removes: tuple[str, ...]
    target_commit: int | None
    columns: tuple[Mapping[str, str], ...]
    """Empty if the intent is unreadable."""
    partition_by: tuple[str, ...]
    kind: str
    seq: int
    base_commit: int

    @property
    def committed(self) -> bool:
        return self.outcome == IntentOutcome.COMMITTED.value

    @property
    def schema(self) -> str:
        """The schema string as Delta writes it; empty if the columns are unreadable."""
        try:
            return TableSchema.model_validate({"columns": self.columns}).delta_json()
        except ValidationError:
            return ""

    @property
    def recorded(self) -> bool:
        """Whether its commit was decided: completed or fenced."""
        return self.committed or self.outcome == IntentOutcome.FENCED.value


class ShownFiles:
    """The files that moves add up to, applied in the order of their commits."""

    def __init__(self, moves: Iterable[Move]) -> None:
        self.files: dict[str, ShownFile] = {}
        self._restored = {move.target_commit for move in moves}
        self._seen: dict[int, dict[str, ShownFile]] = {}

    def apply(self, move: Move) -> None:
        if move.target_commit is not None:
            self.files = dict(self._seen.get(move.target_commit, self.files))
        else:
            self.change(move.removes, [file.shown for file in move.adds])
        if move.commit in self._restored:
            self._seen[move.commit] = dict(self.files)

    def change(self, removes: Iterable[str], adds: Iterable[ShownFile]) -> None:
        for path in removes:
            self.files.pop(path, None)
        self.files.update((file.path, file) for file in adds)


class Numbers:
    """Which commits carry a number of the table that was given to a move. After any other number,
    no move could commit."""

    def __init__(self, moves: Iterable[Move]) -> None:
        known = list(moves)
        self._recorded = {move.commit: move.seq for move in known if move.recorded}
        self._bases = {move.seq: move.base_commit for move in known if not move.recorded}
        self._taken = 0

    def allow(self, commit: Commit) -> bool:
        """Asked in the order of the log. The number of a commit without a record is the next one,
        and a move that had it was to commit after its base."""
        if commit.seq is None or self._recorded.get(commit.version) == commit.seq:
            return True
        before = (seq for version, seq in self._recorded.items() if version < commit.version)
        last = max(self._taken, *before, 0)
        base = self._bases.get(commit.seq)
        if commit.seq != last + 1 or base is None or commit.version <= base:
            return False
        self._taken = commit.seq
        return True


@dataclass(frozen=True)
class Governed:
    """One governed table according to the State."""

    dataset_id: str
    location: str
    table_id: str
    moves: tuple[Move, ...]
    published: int | None
    """The commit of the published pointer."""
    removed: frozenset[str] = frozenset()
    """Files removed by maintenance, each recorded before its removal."""
    created_sha256: str | None = None
    """The hash of the commit that made the table; None if somebody else made it."""

    @property
    def by_commit(self) -> Mapping[int, Move]:
        return {move.commit: move for move in self.moves if move.recorded and move.commit >= 0}

    @property
    def first(self) -> Move | None:
        """The commit of the first version; before it the table was empty."""
        return next((move for move in self.moves if move.committed and move.columns), None)

    @property
    def adopted(self) -> int | None:
        """The adoption commit of a table that existed before."""
        adoptions = (m for m in self.moves if m.committed and m.kind == MoveKind.ADOPTION.value)
        return next((move.commit for move in adoptions), None)

    @property
    def under_way(self) -> frozenset[str]:
        return frozenset(move.intent_id for move in self.moves if move.outcome is None)

    @property
    def numbers(self) -> Numbers:
        return Numbers(self.moves)

    @cached_property
    def files(self) -> tuple[PublishedFile, ...]:
        """Every file of every version, without duplicates."""
        found = {file.path: file for m in self.moves if m.committed for file in m.adds}
        return tuple(found.values())

    def files_at(self, commit: int) -> dict[str, ShownFile]:
        """The files that a decided commit shows, by path."""
        shown = ShownFiles(self.moves)
        for move in sorted(self.moves, key=lambda move: move.commit):
            if move.committed and move.commit <= commit:
                shown.apply(move)
        return shown.files


def governed_ids(tx: Transaction) -> list[str]:
    found = select(governed_tables.c.dataset_id).where(governed_tables.c.org_id == tx.org_id)
    return list(tx.scalars(found.order_by(governed_tables.c.dataset_id)))


def files_at(tx: Transaction, table_id: str, commit: int) -> Set[str]:
    """Paths of the files that a decided commit shows; none for an unknown table."""
    table = governed_tables.c
    owner = tx.scalar(select(table.dataset_id).where(table.table_id == table_id))
    return set() if owner is None else governed_table(tx, owner).files_at(commit).keys()


def governed_table(tx: Transaction, dataset_id: str) -> Governed:
    table = governed_tables.c
    row = tx.execute(
        select(table.location, table.table_id, table.created_sha256).where(
            table.dataset_id == dataset_id
        )
    ).one()
    pointer = dataset_pointers.c
    published = tx.scalar(
        select(pointer.commit_version)
        .where(pointer.dataset_id == dataset_id)
        .order_by(pointer.ordinal.desc())
        .limit(1)
    )
    outcome = intent_outcomes.c
    moves = tx.execute(
        select(
            intents.c.intent_id,
            intents.c.body,
            outcome.outcome,
            outcome.commit_version,
            outcome.commit_sha256,
            intents.c.kind,
            intents.c.seq,
        )
        .join(intent_outcomes, outcome.intent_id == intents.c.intent_id, isouter=True)
        .where(intents.c.dataset_id == dataset_id)
        .order_by(intents.c.seq)
    )
    return Governed(
        dataset_id=dataset_id,
        location=row.location,
        table_id=row.table_id,
        moves=tuple(_move(*move) for move in moves),
        published=published,
        removed=removed_paths(tx, dataset_id),
        created_sha256=row.created_sha256,
    )


def _move(
    intent_id: str,
    body: str,
    outcome: str | None,
    commit: int | None,
    sha256: str | None,
    kind: str,
    seq: int,
) -> Move:
    """An altered intent yields no files; the alteration is reported elsewhere."""
    try:
        intent = json.loads(body)
        adds = tuple(map(_file, intent["adds"]))
        removes, target = tuple(intent["removes"]), intent["target_commit"]
        columns, partition_by = tuple(intent["schema"]["columns"]), tuple(intent["partition_by"])
        base = int(intent["base_commit"])
    except (ValueError, KeyError, TypeError):
        adds, removes, target, columns, partition_by, base = (), (), None, (), (), -1
    return Move(
        intent_id=intent_id,
        outcome=outcome,
        commit=-1 if commit is None else commit,
        sha256=sha256 or "",
        adds=adds,
        removes=removes,
        target_commit=target,
        columns=columns,
        partition_by=partition_by,
        kind=kind,
        seq=seq,
        base_commit=base,
    )


def _file(file: dict[str, Any]) -> PublishedFile:
    return PublishedFile(
        file["path"], file["size"], file["sha256"], file["stats"], file["partition"]
    )
