"""Loads all facts about a dataset's quarantined rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select

from lakeguard.ledger.documents import get_document
from lakeguard.ledger.quarantine.facts import discards_of, holdings_of, taken_of
from lakeguard.ledger.quarantine.state import (
    Holding,
    Move,
    Quarantine,
    ReadRows,
    SourceCoverage,
    read_rows,
)
from lakeguard.ledger.versions import evidence_of_versions, pointer_rows
from lakeguard.state.schema import data_versions, documents, run_openings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, MoveKind
from lakeguard_sdk.errors import NothingQuarantined
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.load import KEYED_LOADS
from lakeguard_sdk.model.quarantine import QuarantineSelection
from lakeguard_sdk.model.run import RunPlan


def quarantine_of(tx: Transaction, dataset_id: str, *, whole: bool = False) -> Quarantine:
    """Versions older than the first quarantined row are ignored.

    With ``whole``, lines go back to the last version that read everything.
    """
    holdings = holdings_of(tx, dataset_id)
    first = 0 if whole else min((item.version for item in holdings), default=None)
    rows = pointer_rows(tx, dataset_id)
    coverages = {} if first is None else _coverage_since(tx, dataset_id, first)
    adopted = {row.version for row in rows if row.kind == MoveKind.ADOPTION.value}

    def coverage(version: int) -> SourceCoverage:
        if first is None or version < first or version in adopted:
            return SourceCoverage(anew=True)
        return coverages[version]

    return Quarantine(
        moves=tuple(Move(row.version, row.kind) for row in rows),
        coverage=coverage,
        holdings=holdings,
        taken=taken_of(tx, dataset_id),
        discards=discards_of(tx, dataset_id),
    )


def rows_read_by(tx: Transaction, dataset_id: str, versions: Iterable[int]) -> dict[int, ReadRows]:
    """Row accounting of each version's batch."""
    found: dict[int, ReadRows] = {}
    for number, (evidence_hash, _) in evidence_of_versions(
        tx, dataset_id, sorted(versions)
    ).items():
        evidence = Evidence.from_json(get_document(tx, evidence_hash))
        found[number] = read_rows(evidence)
    return found


# Source coverage: how much of its source a run reads, from its plan.

_READS_ALL = (LoadType.FULL, LoadType.SNAPSHOT)
_MERGES = (*KEYED_LOADS, LoadType.PARTITION)


def coverage_of(plan: RunPlan) -> SourceCoverage:
    return _coverage(plan.to_data())


def _coverage_since(tx: Transaction, dataset_id: str, first: int) -> dict[int, SourceCoverage]:
    """Coverage of every version from ``first`` on, in one query."""
    version, opened, document = data_versions.c, run_openings.c, documents.c
    rows = tx.execute(
        select(version.version, document.body)
        .join(run_openings, opened.run_id == version.run_id)
        .join(
            documents,
            (document.content_hash == opened.plan_hash) & (document.org_id == opened.org_id),
        )
        .where(
            version.dataset_id == dataset_id, version.version >= first, opened.org_id == tx.org_id
        )
    )
    return {row.version: _coverage(json.loads(row.body)) for row in rows}


def _coverage(plan: dict[str, Any]) -> SourceCoverage:
    if plan["build"]["build"] == "quarantine":
        return SourceCoverage()
    if plan.get("window") is not None:
        return SourceCoverage(windowed=True)
    return SourceCoverage(anew=_reads_anew(plan))


def _reads_anew(plan: dict[str, Any]) -> bool:
    """Whether rows read again are added again, quarantined ones included."""
    load, build = plan["load"], plan["build"]
    kind = LoadType(load["type"])
    if kind in _READS_ALL:
        return True
    if kind not in _MERGES and not load.get("keys"):
        return False
    if plan.get("watermark") is not None:
        return False
    pins = {"sql": "views", "python": "inputs"}.get(build["build"])
    if pins is not None:
        return all(pin.get("since") is None for pin in build[pins].values())
    return build["build"] == "source" and build.get("position") is None


# Selection of quarantined rows.


def chosen_of(
    dataset: DatasetName, quarantined: Sequence[Holding], choice: QuarantineSelection
) -> tuple[Holding, ...]:
    """Raises ``NothingQuarantined`` if the named run or rule has no quarantined rows."""
    chosen = tuple(item for item in quarantined if choice.takes(item.run_id, item.rule_id))
    if not chosen:
        missing = _words(choice.runs, choice.rules)
    else:
        runs, rules = {item.run_id for item in chosen}, {item.rule_id for item in chosen}
        missing = _words(
            [run for run in choice.runs if run not in runs],
            [rule for rule in choice.rules if rule not in rules],
        )
    if missing:
        raise NothingQuarantined(dataset=dataset, choice=f" {missing}")
    return chosen


def _words(runs: Sequence[str], rules: Sequence[str]) -> str:
    parts = [f"of run {run}" for run in runs] + [f"under {rule}" for rule in rules]
    return ", ".join(parts)
