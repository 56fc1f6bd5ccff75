"""What was shown when, and what was measured of it: the past that rules look back at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from lakeguard.gate.case import EarlierVersion, History
from lakeguard.gate.rules import looked_back_at
from lakeguard.insight.replaying import RecordedCase
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.versions import evidence_behind, pointer_rows, stored_versions
from lakeguard.promotion.history import led_to, measures_in
from lakeguard.state.database import Database
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.measure import MeasureValue
from lakeguard_sdk.words import MoveKind


@dataclass
class Past:
    """The versions of a dataset, the moves of its pointer, and values that were learned since."""

    database: Database
    org_id: str
    dataset_id: str
    moves: list[Row[Any]]
    version_of: Mapping[str, int]
    """By run."""
    rolled_back: frozenset[int]
    """Versions that were shown, and that a rollback took away."""
    _learned: dict[int, dict[str, MeasureValue]] = field(default_factory=dict)
    _behind: dict[int, tuple[str, datetime]] = field(default_factory=dict)

    @classmethod
    def read(cls, connection: Connection, database: Database, org_id: str, dataset_id: str) -> Past:
        versions = stored_versions(connection, dataset_id)
        moves = pointer_rows(connection, dataset_id)
        numbered = {version.run_id: version.version for version in versions}
        past = cls(database, org_id, dataset_id, moves, numbered, _taken_away(moves))
        numbers = [version.version for version in versions]
        past._behind.update(evidence_behind(connection, dataset_id, numbers))
        return past

    def learn(self, version: int, measures: Mapping[str, MeasureValue]) -> None:
        """What is known of a version by now: its evidence, and what a survey added."""
        self._learned[version] = dict(measures)

    def history(
        self, rules: tuple[RuleDefinition, ...], case: RecordedCase, at: datetime
    ) -> History:
        """The recorded history where it says all that the rules ask; else as it was then."""
        keys, most = looked_back_at(rules, case.facts.declared)
        known, reach = looked_back_at(case.rules, case.facts.declared)
        if not keys or (keys <= known and most <= reach):
            return case.history
        before = [move for move in self.moves if move.moved_at < at]
        numbers = led_to(before)[-most:][::-1]
        found = []
        for number in numbers:
            if number in self._behind:
                measures = self._measures(number)
                values = {key: measures[key] for key in sorted(keys) if key in measures}
                decided_at = self._behind[number][1]
                found.append(EarlierVersion(version=number, at=decided_at, values=values))
        return History(versions=tuple(found))

    def _measures(self, version: int) -> dict[str, MeasureValue]:
        if version not in self._learned:
            with self.database.read() as connection:
                text = get_document(connection, self.org_id, self._behind[version][0])
            self._learned[version] = measures_in(text)
        return self._learned[version]


def _taken_away(moves: Sequence[Row[Any]]) -> frozenset[int]:
    gone: set[int] = set()
    for place, move in enumerate(moves):
        if move.kind == MoveKind.ROLLBACK.value:
            gone |= set(led_to(moves[:place])) - set(led_to(moves[: place + 1]))
    return frozenset(gone)
