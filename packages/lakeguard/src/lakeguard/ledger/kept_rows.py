"""What became of rows that were set aside, as seen from one version; pure.

A version stands on the one that was shown just before it was published. Those that led to a
version, back to the last that read everything anew, are its line: what they set aside and no
replay among them took is what waits. Another version has another line, so that a rollback undoes
what later versions set aside, and what later replays took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Instant, Noun
from lakeguard_sdk.quarantine import (
    AsideFile,
    KeptFile,
    KeptRows,
    KeptState,
    QuarantineBalance,
    QuarantineBuild,
)
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.words import LoadType, MoveKind

_READS_ALL = (LoadType.FULL, LoadType.SNAPSHOT)


class Holding(Noun):
    """What one run filed under one rule."""

    run_id: str
    rule_id: str
    expression: str
    version: int
    rows: int
    first_seen: Instant
    set_aside_at: Instant
    files: tuple[AsideFile, ...]

    @property
    def kept_files(self) -> tuple[KeptFile, ...]:
        return tuple(
            KeptFile(
                run_id=self.run_id,
                rule_id=self.rule_id,
                path=file.path,
                rows=file.rows,
                sha256=file.sha256,
            )
            for file in self.files
        )


class Taken(NamedTuple):
    """A holding that the replay ``run_id`` sent again, which made ``version``."""

    run_id: str
    holding_run_id: str
    rule_id: str
    version: int


class WriteOff(NamedTuple):
    run_id: str
    rule_id: str
    reason: str
    actor: str


class Move(NamedTuple):
    """What was shown from then on, in the order of the pointer's history."""

    version: int
    kind: str


class ReadRows(NamedTuple):
    """What became of the rows of a version's batch, as its evidence says."""

    accounted: int
    aside: int
    malformed: int


def reads_anew(plan: RunPlan) -> bool:
    """Whether the run reads all that there is, whatever was read before."""
    whole = plan.load.type in _READS_ALL and plan.window is None
    return whole and not isinstance(plan.build, QuarantineBuild)


def read_rows(evidence: Evidence) -> ReadRows:
    return ReadRows(evidence.batch_rows, evidence.rows_aside, evidence.rejected)


@dataclass(frozen=True)
class Quarantine:
    """All facts about the rows of one dataset that were set aside."""

    moves: tuple[Move, ...]
    renews: Callable[[int], bool]
    """Whether a version read everything anew."""
    holdings: tuple[Holding, ...] = ()
    taken: tuple[Taken, ...] = ()
    write_offs: tuple[WriteOff, ...] = ()
    _lines: dict[int | None, tuple[int, ...]] = field(default_factory=dict)

    @property
    def published(self) -> int | None:
        return self.moves[-1].version if self.moves else None

    def ancestry(self, version: int | None) -> list[int]:
        """The version and those that led to it, the newest first."""
        parents = _parents(self.moves)
        found: list[int] = []
        while version is not None:
            found.append(version)
            version = parents.get(version)
        return found

    def line(self, version: int | None) -> tuple[int, ...]:
        """Back to the last version that read everything, the newest first."""
        if version not in self._lines:
            found: list[int] = []
            for number in self.ancestry(version):
                found.append(number)
                if self.renews(number):
                    break
            self._lines[version] = tuple(found)
        return self._lines[version]

    def state(self, holding: Holding, version: int | None) -> tuple[KeptState, str | None]:
        """What became of it, and which replay took it."""
        if not self._led_by(holding, version):
            behind = holding.version in self.ancestry(version)
            return (KeptState.REPLACED if behind else KeptState.UNDONE), None
        line = self.line(version)
        by = [
            item.run_id
            for item in self.taken
            if (item.holding_run_id, item.rule_id) == (holding.run_id, holding.rule_id)
            and item.version in line
        ]
        if by:
            return KeptState.SENT_AGAIN, by[0]
        off = self._write_off(holding) is not None
        return (KeptState.WRITTEN_OFF if off else KeptState.WAITING), None

    def waiting(self, version: int | None) -> tuple[Holding, ...]:
        """What waits where the version is shown."""
        states = ((item, self.state(item, version)[0]) for item in self.holdings)
        return tuple(item for item, state in states if state is KeptState.WAITING)

    def kept(self, dataset: DatasetName) -> tuple[KeptRows, ...]:
        """Every holding as it is seen from what is published."""
        return tuple(self._kept(dataset, item) for item in self.holdings)

    def balance(
        self, dataset: DatasetName, version: int | None, read: Mapping[int, ReadRows]
    ) -> QuarantineBalance:
        """``read`` is of every version of the line."""
        line = self.line(version)
        replays = {item.version for item in self.taken}
        whole = [read[number] for number in line]
        fresh = [read[number] for number in line if number not in replays]
        states = [(item, self.state(item, version)[0]) for item in self.holdings]
        waits = [item for item, state in states if state is KeptState.WAITING]
        off = [item for item, state in states if state is KeptState.WRITTEN_OFF]
        return QuarantineBalance(
            dataset=dataset,
            version=version,
            read=sum(map(sum, fresh)),
            published=sum(item.accounted for item in whole),
            waiting=sum(item.rows for item in waits),
            written_off=sum(item.rows for item in off),
            malformed=sum(item.malformed for item in fresh),
            oldest=oldest(waits),
        )

    def _led_by(self, holding: Holding, version: int | None) -> bool:
        return holding.version in self.line(version)

    def _write_off(self, holding: Holding) -> WriteOff | None:
        key = (holding.run_id, holding.rule_id)
        return next((item for item in self.write_offs if item[:2] == key), None)

    def _kept(self, dataset: DatasetName, holding: Holding) -> KeptRows:
        state, by = self.state(holding, self.published)
        off = self._write_off(holding) if state is KeptState.WRITTEN_OFF else None
        return KeptRows(
            dataset=dataset,
            run_id=holding.run_id,
            rule_id=holding.rule_id,
            expression=holding.expression,
            version=holding.version,
            rows=holding.rows,
            state=state,
            first_seen=holding.first_seen,
            set_aside_at=holding.set_aside_at,
            files=holding.kept_files,
            sent_again_by=by,
            reason=off.reason if off else "",
            actor=off.actor if off else "",
        )


def oldest(holdings: Iterable[Holding]) -> datetime | None:
    return min((item.first_seen for item in holdings), default=None)


def _parents(moves: Iterable[Move]) -> dict[int, int | None]:
    """What was shown just before each version was shown for the first time."""
    parents: dict[int, int | None] = {}
    shown: int | None = None
    for move in moves:
        if move.kind != MoveKind.COMPACTION.value:
            parents.setdefault(move.version, shown)
        shown = move.version
    return parents
