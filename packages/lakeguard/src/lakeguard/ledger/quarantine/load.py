"""The facts about rows that were set aside, read as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select

from lakeguard.ledger.documents import get_document
from lakeguard.ledger.quarantine.facts import holdings_of, taken_of, write_offs_of
from lakeguard.ledger.quarantine.state import (
    Holding,
    Move,
    Quarantine,
    Reach,
    ReadRows,
    read_rows,
)
from lakeguard.ledger.versions import evidence_behind, pointer_rows
from lakeguard.state.schema import data_versions, documents, run_openings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, MoveKind
from lakeguard_sdk.errors import NothingWaits
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.load import KEYED_LOADS
from lakeguard_sdk.model.quarantine import KeptChoice
from lakeguard_sdk.model.run import RunPlan


def quarantine_of(tx: Transaction, dataset_id: str, *, whole: bool = False) -> Quarantine:
    """Versions older than all that was set aside are not looked at: nothing of theirs waits.

    With ``whole`` lines go back to the last version that read everything all the same.
    """
    holdings = holdings_of(tx, dataset_id)
    first = 0 if whole else min((item.version for item in holdings), default=None)
    rows = pointer_rows(tx, dataset_id)
    reaches = {} if first is None else _reaches_since(tx, dataset_id, first)
    adopted = {row.version for row in rows if row.kind == MoveKind.ADOPTION.value}

    def reach(version: int) -> Reach:
        if first is None or version < first or version in adopted:
            return Reach(anew=True)
        return reaches[version]

    return Quarantine(
        moves=tuple(Move(row.version, row.kind) for row in rows),
        reach=reach,
        holdings=holdings,
        taken=taken_of(tx, dataset_id),
        write_offs=write_offs_of(tx, dataset_id),
    )


def rows_read_by(tx: Transaction, dataset_id: str, versions: Iterable[int]) -> dict[int, ReadRows]:
    """What became of the batch of each of the versions."""
    found: dict[int, ReadRows] = {}
    for number, (evidence_hash, _) in evidence_behind(tx, dataset_id, sorted(versions)).items():
        evidence = Evidence.from_json(get_document(tx, evidence_hash))
        found[number] = read_rows(evidence)
    return found


# How much of its source a run reads, told by the plan that it opened with.

_READS_ALL = (LoadType.FULL, LoadType.SNAPSHOT)
_MERGES = (*KEYED_LOADS, LoadType.PARTITION)


def reach_of(plan: RunPlan) -> Reach:
    return _reach(plan.to_data())


def _reaches_since(tx: Transaction, dataset_id: str, first: int) -> dict[int, Reach]:
    """Of every version from ``first`` on that a run was opened for, in one question: plans are
    long, and a dataset has many."""
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
    return {row.version: _reach(json.loads(row.body)) for row in rows}


def _reach(plan: dict[str, Any]) -> Reach:
    if plan["build"]["build"] == "quarantine":
        return Reach()
    if plan.get("window") is not None:
        return Reach(windowed=True)
    return Reach(anew=_reads_anew(plan))


def _reads_anew(plan: dict[str, Any]) -> bool:
    """Rows that are added without a look at the table are added again where they are read again:
    so do those of them that wait."""
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


# Which of the rows that wait somebody means.


def chosen_of(
    dataset: DatasetName, waiting: Sequence[Holding], choice: KeptChoice
) -> tuple[Holding, ...]:
    """``NothingWaits`` where a run or a rule is named under which no chosen row waits."""
    chosen = tuple(item for item in waiting if choice.takes(item.run_id, item.rule_id))
    if not chosen:
        missing = _words(choice.runs, choice.rules)
    else:
        runs, rules = {item.run_id for item in chosen}, {item.rule_id for item in chosen}
        missing = _words(
            [run for run in choice.runs if run not in runs],
            [rule for rule in choice.rules if rule not in rules],
        )
    if missing:
        raise NothingWaits(dataset=dataset, choice=f" {missing}")
    return chosen


def _words(runs: Sequence[str], rules: Sequence[str]) -> str:
    said = [f"of run {run}" for run in runs] + [f"under {rule}" for rule in rules]
    return ", ".join(said)
