"""Measures of earlier versions, for rules that compare with history."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row

from lakeguard.gate.evaluation.case import EarlierVersion, History
from lakeguard.gate.rules.compile import history_measures
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.versions import (
    evidence_of_versions,
    last_pointer_rows,
    pointer_rows,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.read_models import PointerMove
from lakeguard_sdk.types.schema import TableSchema

_MOVES_A_VERSION = 3
"""Read for each version: it may have been compacted since."""


def earlier_values(
    tx: Transaction, dataset_id: str, rules: tuple[RuleDefinition, ...], schema: TableSchema
) -> History:
    """The predecessors of the published version, newest first, with the requested measures only.

    Versions undone by a rollback are excluded.
    """
    keys, most = history_measures(rules, schema)
    if not keys:
        return History()
    numbers = _predecessors(tx, dataset_id, most)[::-1]
    evidence = evidence_of_versions(tx, dataset_id, numbers)
    found = []
    for number in numbers:
        if number in evidence:
            evidence_hash, at = evidence[number]
            measures = measures_in(get_document(tx, evidence_hash))
            values = {key: measures[key] for key in sorted(keys) if key in measures}
            found.append(EarlierVersion(version=number, at=at, values=values))
    return History(versions=tuple(found))


def _predecessors(tx: Transaction, dataset_id: str, most: int) -> list[int]:
    """The last ones, oldest first. All moves are read only if there was a rollback among the last:
    it may have gone back to any of them."""
    last = last_pointer_rows(tx, dataset_id, _MOVES_A_VERSION * most)
    found = led_to(last)
    if len(found) < most or any(row.kind == MoveKind.ROLLBACK.value for row in last):
        found = led_to(pointer_rows(tx, dataset_id))
    return found[-most:]


def led_to(moves: Iterable[Row[Any] | PointerMove]) -> list[int]:
    """The predecessors of the published version after these pointer moves, oldest first.

    A rollback removes the versions after its target.
    """
    shown: list[int] = []
    for row in moves:
        if row.version in shown:
            del shown[shown.index(row.version) + 1 :]
        elif row.kind != MoveKind.COMPACTION.value:
            shown.append(row.version)
    return shown


def measures_in(evidence: str) -> dict[str, Any]:
    """Parse only the measures of an evidence document, which may list thousands of files."""
    measures: dict[str, Any] = json.loads(evidence)["measures"]
    return measures
