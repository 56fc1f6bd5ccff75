"""The state of quarantined rows as seen from one version. Pure.

A version's base is the one published just before it. Its line is the chain of bases back to the
last version that read everything: rows that the line quarantined and no replay in it took are
still held. Another version has another line, so a rollback undoes later quarantines and replays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.quarantine import (
    QuarantineBalance,
    QuarantineEntry,
    QuarantineFile,
    QuarantineState,
    StagedQuarantineFile,
)

Key = tuple[str, str]
"""The run and rule of quarantined rows."""


class Holding(FrozenModel):
    """Rows that one run quarantined under one rule."""

    run_id: str
    rule_id: str
    expression: str
    version: int
    rows: int
    first_seen: Instant
    quarantined_at: Instant
    files: tuple[StagedQuarantineFile, ...]

    @property
    def key(self) -> Key:
        return self.run_id, self.rule_id

    @property
    def quarantine_files(self) -> tuple[QuarantineFile, ...]:
        return tuple(
            QuarantineFile(
                run_id=self.run_id,
                rule_id=self.rule_id,
                path=file.path,
                rows=file.rows,
                sha256=file.sha256,
            )
            for file in self.files
        )


class Taken(NamedTuple):
    """A holding that run ``run_id`` replayed into ``version``."""

    run_id: str
    holding_run_id: str
    rule_id: str
    version: int

    @property
    def key(self) -> Key:
        return self.holding_run_id, self.rule_id


class Discard(NamedTuple):
    run_id: str
    rule_id: str
    reason: str
    actor: str
    at: datetime


class Move(NamedTuple):
    """A pointer move, in order."""

    version: int
    kind: str


class ReadRows(NamedTuple):
    """Row accounting of a version's batch, from its evidence."""

    accounted: int
    quarantined: int
    malformed: int


class Totals(NamedTuple):
    """Row accounting of a line."""

    read: int = 0
    published: int = 0
    malformed: int = 0
    known: bool = True
    """Whether all evidence is available."""


HeldRows = dict[Key, Holding]


class SourceCoverage(NamedTuple):
    """How much of its source a version's run read."""

    anew: bool = False
    """Everything."""
    windowed: bool = False
    """A back-fill: rows that were read before."""


def read_rows(evidence: Evidence) -> ReadRows:
    return ReadRows(evidence.batch_rows, evidence.rows_quarantined, evidence.rejected)


@dataclass(frozen=True)
class Quarantine:
    """All facts about one dataset's quarantined rows."""

    moves: tuple[Move, ...]
    coverage: Callable[[int], SourceCoverage]
    """The version's source coverage."""
    holdings: tuple[Holding, ...] = ()
    taken: tuple[Taken, ...] = ()
    discards: tuple[Discard, ...] = ()
    _lines: dict[int | None, tuple[int, ...]] = field(default_factory=dict)
    _held: dict[int | None, HeldRows] = field(default_factory=dict)
    _ancestors: dict[int | None, frozenset[int]] = field(default_factory=dict)

    @property
    def published(self) -> int | None:
        return self.moves[-1].version if self.moves else None

    def ancestry(self, version: int | None) -> list[int]:
        """The version and its bases, newest first."""
        found: list[int] = []
        while version is not None:
            found.append(version)
            version = self._parents.get(version)
        return found

    def line(self, version: int | None) -> tuple[int, ...]:
        """The version's line, newest first."""
        if version not in self._lines:
            found: list[int] = []
            at = version
            while at is not None:
                found.append(at)
                at = self.before(at)
            self._lines[version] = tuple(found)
        return self._lines[version]

    def held(self, version: int | None) -> HeldRows:
        """Rows held as of the version, by run and rule."""
        if version not in self._held:
            found: HeldRows = {}
            for number in reversed(self.line(version)):
                self._step(found, number)
            self._held[version] = found
        return self._held[version]

    def histories(self) -> Iterator[tuple[int, HeldRows]]:
        """Rows held as of every published version, bases first."""
        held_by_version: dict[int | None, HeldRows] = {None: {}}
        children = Counter(self._parents.values())
        for version in self._parents:
            parent = self.before(version)
            held = dict(held_by_version[parent])
            self._step(held, version)
            yield version, held
            if children[version]:
                held_by_version[version] = held
            shown = self._parents[version]
            children[shown] -= 1
            if not children[shown] and shown is not None:
                del held_by_version[shown]

    def before(self, version: int) -> int | None:
        """The base it adds to; None if it read everything."""
        return None if self.coverage(version).anew else self._parents.get(version)

    def backfilled_since(self, holding: Holding) -> bool:
        """Whether a later back-fill may have loaded its rows."""
        line = self.line(self.published)
        if holding.version not in line:
            return False
        return any(self.coverage(number).windowed for number in line[: line.index(holding.version)])

    def state(self, holding: Holding, version: int | None) -> tuple[QuarantineState, str | None]:
        """Its state, and the replay that took it."""
        if holding.key in self.held(version):
            off = holding.key in self._offs
            return (QuarantineState.DISCARDED if off else QuarantineState.QUARANTINED), None
        line = self.line(version)
        if holding.version in line:
            by = next(item for item in self._taken_by[holding.key] if item.version in line)
            return QuarantineState.REPLAYED, by.run_id
        replaced = holding.version in self._ancestors_of(version)
        return (QuarantineState.REPLACED if replaced else QuarantineState.UNDONE), None

    def quarantined(self, version: int | None) -> tuple[Holding, ...]:
        """Holdings as of the version."""
        return tuple(item for key, item in self.held(version).items() if key not in self._offs)

    def ever_quarantined(self, versions: Set[int]) -> tuple[Holding, ...]:
        """Holdings as of any of the versions."""
        found: HeldRows = {}
        for version, held in self.histories():
            if version in versions:
                found.update(held)
        return tuple(item for key, item in found.items() if key not in self._offs)

    def discarded_since(self, at: datetime) -> tuple[Holding, ...]:
        recent = {key for key, off in self._offs.items() if off.at >= at}
        return tuple(item for item in self.holdings if item.key in recent)

    def entries(self, dataset: DatasetName) -> tuple[QuarantineEntry, ...]:
        """Every holding as of the published version."""
        return tuple(self._entry(dataset, item) for item in self.holdings)

    def balance(
        self, dataset: DatasetName, version: int | None, read: Mapping[int, ReadRows]
    ) -> QuarantineBalance:
        """``read`` covers the line; versions without evidence count as zero."""
        found = Totals()
        for number in self.line(version):
            found = self._with(found, number, read)
        return self._balance(dataset, version, self.held(version), found)

    def balances(
        self, dataset: DatasetName, read: Mapping[int, ReadRows]
    ) -> Iterator[QuarantineBalance]:
        """For every published version, except lines with missing evidence."""
        totals: dict[int | None, Totals] = {None: Totals()}
        for version, held in self.histories():
            totals[version] = self._with(totals[self.before(version)], version, read)
            if totals[version].known:
                yield self._balance(dataset, version, held, totals[version])

    def _with(self, before: Totals, version: int, read: Mapping[int, ReadRows]) -> Totals:
        """Replays do not count as newly read rows."""
        found = read.get(version)
        if found is None:
            return before._replace(known=False)
        replays = version in self._replays
        return Totals(
            before.read + (0 if replays else sum(found)),
            before.published + found.accounted,
            before.malformed + (0 if replays else found.malformed),
            before.known,
        )

    def _balance(
        self, dataset: DatasetName, version: int | None, held: HeldRows, totals: Totals
    ) -> QuarantineBalance:
        waits = [item for key, item in held.items() if key not in self._offs]
        off = [item for key, item in held.items() if key in self._offs]
        return QuarantineBalance(
            dataset=dataset,
            version=version,
            read=totals.read,
            published=totals.published,
            quarantined=sum(item.rows for item in waits),
            discarded=sum(item.rows for item in off),
            malformed=totals.malformed,
            oldest=oldest(waits),
        )

    @cached_property
    def _replays(self) -> frozenset[int]:
        return frozenset(item.version for item in self.taken)

    @cached_property
    def _parents(self) -> dict[int, int | None]:
        return _parents(self.moves)

    @cached_property
    def _offs(self) -> dict[Key, Discard]:
        return {(item.run_id, item.rule_id): item for item in self.discards}

    @cached_property
    def _taken_by(self) -> dict[Key, list[Taken]]:
        found: dict[Key, list[Taken]] = {}
        for item in self.taken:
            found.setdefault(item.key, []).append(item)
        return found

    @cached_property
    def _by_version(self) -> dict[int, tuple[list[Holding], list[Key]]]:
        """Holdings and replays per version."""
        found: dict[int, tuple[list[Holding], list[Key]]] = {}
        for holding in self.holdings:
            found.setdefault(holding.version, ([], []))[0].append(holding)
        for item in self.taken:
            found.setdefault(item.version, ([], []))[1].append(item.key)
        return found

    def _step(self, held: HeldRows, version: int) -> None:
        filed, taken = self._by_version.get(version, ((), ()))
        for key in taken:
            held.pop(key, None)
        held.update((holding.key, holding) for holding in filed)

    def _ancestors_of(self, version: int | None) -> frozenset[int]:
        if version not in self._ancestors:
            self._ancestors[version] = frozenset(self.ancestry(version))
        return self._ancestors[version]

    def _entry(self, dataset: DatasetName, holding: Holding) -> QuarantineEntry:
        state, by = self.state(holding, self.published)
        off = self._offs.get(holding.key) if state is QuarantineState.DISCARDED else None
        return QuarantineEntry(
            dataset=dataset,
            run_id=holding.run_id,
            rule_id=holding.rule_id,
            expression=holding.expression,
            version=holding.version,
            rows=holding.rows,
            state=state,
            first_seen=holding.first_seen,
            quarantined_at=holding.quarantined_at,
            files=holding.quarantine_files,
            replayed_by=by,
            reason=off.reason if off else "",
            actor=off.actor if off else "",
        )


def oldest(holdings: Iterable[Holding]) -> datetime | None:
    return min((item.first_seen for item in holdings), default=None)


def _parents(moves: Iterable[Move]) -> dict[int, int | None]:
    """The version published just before each version's first publication."""
    parents: dict[int, int | None] = {}
    shown: int | None = None
    for move in moves:
        if move.kind != MoveKind.COMPACTION.value:
            parents.setdefault(move.version, shown)
        shown = move.version
    return parents
