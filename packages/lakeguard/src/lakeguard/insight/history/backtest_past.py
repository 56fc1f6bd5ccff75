"""Published versions over time and their measures: the history that rules refer to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row

from lakeguard.gate.evaluation.case import EarlierVersion, History
from lakeguard.gate.rules.compile import history_measures
from lakeguard.insight.history.replay import RecordedCase
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.versions import evidence_of_versions, pointer_rows, stored_versions
from lakeguard.promotion.deciding.measure_history import measures_in
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.definitions import RuleDefinition


class Shown(NamedTuple):
    """A published version and its predecessor."""

    version: int
    before: Shown | None

    def line(self, most: int) -> Iterator[int]:
        """This version and its predecessors, newest first, up to a limit."""
        at: Shown | None = self
        while at is not None and most > 0:
            yield at.version
            at, most = at.before, most - 1


class Walk:
    """Pointer moves, indexed by time."""

    def __init__(self, moves: Sequence[Row[Any]]) -> None:
        self.rolled_back: set[int] = set()
        """Versions removed by rollbacks."""
        self._times: list[datetime] = []
        self._heads: list[Shown] = []
        line: list[Shown] = []
        places: dict[int, int] = {}
        for move in moves:
            self._step(move, line, places)
            if line:
                latest = self._times[-1] if self._times else move.moved_at
                self._times.append(max(latest, move.moved_at))
                self._heads.append(line[-1])

    def _step(self, move: Row[Any], line: list[Shown], places: dict[int, int]) -> None:
        """Like ``led_to``: rolling back to a version removes those after it."""
        if move.version in places:
            for gone in line[places[move.version] + 1 :]:
                del places[gone.version]
                if move.kind == MoveKind.ROLLBACK.value:
                    self.rolled_back.add(gone.version)
            del line[places[move.version] + 1 :]
        elif move.kind != MoveKind.COMPACTION.value:
            places[move.version] = len(line)
            line.append(Shown(move.version, line[-1] if line else None))

    def before(self, at: datetime, most: int) -> list[int]:
        """Predecessors of the version published just before a time, newest first."""
        place = bisect_left(self._times, at)
        return list(self._heads[place - 1].line(most)) if place else []


@dataclass
class Past:
    """Versions of a dataset, its pointer moves, and measures taken since."""

    state: OrganisationState
    dataset_id: str
    walk: Walk
    version_of: Mapping[str, int]
    """Keyed by run."""
    _learned: dict[int, dict[str, MeasureValue]] = field(default_factory=dict)
    _evidence: dict[int, tuple[str, datetime]] = field(default_factory=dict)

    @property
    def rolled_back(self) -> set[int]:
        return self.walk.rolled_back

    @classmethod
    def read(cls, tx: Transaction, state: OrganisationState, dataset_id: str) -> Past:
        versions = stored_versions(tx, dataset_id)
        walk = Walk(pointer_rows(tx, dataset_id))
        numbered = {version.run_id: version.version for version in versions}
        past = cls(state, dataset_id, walk, numbered)
        numbers = [version.version for version in versions]
        past._evidence.update(evidence_of_versions(tx, dataset_id, numbers))
        return past

    def learn(self, version: int, measures: Mapping[str, MeasureValue]) -> None:
        """Measures of a version: its evidence, and later measurements."""
        self._learned[version] = dict(measures)

    def history(
        self, rules: tuple[RuleDefinition, ...], case: RecordedCase, at: datetime
    ) -> History:
        """The recorded history if it has all measures; else rebuilt as of then."""
        keys, most = history_measures(rules, case.facts.declared)
        known, depth = history_measures(case.rules, case.facts.declared)
        if not keys or (keys <= known and most <= depth):
            return case.history
        found = []
        for number in self.walk.before(at, most):
            if number in self._evidence:
                measures = self._measures(number)
                values = {key: measures[key] for key in sorted(keys) if key in measures}
                decided_at = self._evidence[number][1]
                found.append(EarlierVersion(version=number, at=decided_at, values=values))
        return History(versions=tuple(found))

    def _measures(self, version: int) -> dict[str, MeasureValue]:
        if version not in self._learned:
            with self.state.read() as tx:
                text = get_document(tx, self._evidence[version][0])
            self._learned[version] = measures_in(text)
        return self._learned[version]
