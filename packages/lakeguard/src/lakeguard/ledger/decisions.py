"""Stored decisions and samples of failing rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, select

from lakeguard.state import outbox
from lakeguard.state.schema import decisions, rule_samples
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import NoDecision
from lakeguard_sdk.model.decision import CaseHashes, Decision, Ruling
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.model.row_sample import RowSample


def record_decision(tx: Transaction, decision: Decision) -> None:
    """Record the decision; a run has at most one."""
    ruling = decision.ruling
    row = {
        "decision_id": decision.decision_id,
        "org_id": tx.org_id,
        "run_id": decision.run_id,
        "dataset_id": decision.dataset_id,
        "verdict": ruling.verdict.value,
        "semantics": ruling.semantics,
        "facts_hash": decision.case.facts,
        "evidence_hash": decision.case.evidence,
        "ruleset_hash": decision.case.ruleset,
        "policies_hash": decision.case.policies,
        "history_hash": decision.case.history,
        "decided_at": ruling.decided_at,
        "ruling": ruling.to_json(),
    }
    outbox.record(tx, decisions, [row], ruling.decided_at)


def decision_of_run(tx: Transaction, run_id: str, dataset: DatasetName) -> Decision | None:
    row = tx.execute(
        select(decisions).where(decisions.c.org_id == tx.org_id, decisions.c.run_id == run_id)
    ).first()
    return None if row is None else _decision(row, dataset)


def required_decision(tx: Transaction, run: RunRow) -> Decision:
    """Raises NoDecision, with the reason, for a run that ended before the gate."""
    decision = decision_of_run(tx, run.run_id, run.dataset)
    if decision is None:
        raise NoDecision(run=run.run_id, reason=_undecided(run), dataset=run.dataset)
    return decision


def _undecided(run: RunRow) -> str:
    if run.error_code is not None:
        return f"it failed before the gate ({run.error_code})"
    if run.status is RunStatus.SUCCESS and run.version is None:
        return "it found nothing new, so there was nothing to decide"
    return "it ended before the gate"


def discarded_runs(tx: Transaction, dataset_id: str) -> frozenset[str]:
    """Runs whose staged files must be discarded."""
    table = decisions.c
    rows = tx.execute(
        select(table.run_id, table.ruling).where(
            table.dataset_id == dataset_id, table.ruling.contains('"discard":true')
        )
    )
    return frozenset(row.run_id for row in rows if Ruling.from_json(row.ruling).discard)


def decision_by_id(tx: Transaction, decision_id: str, dataset: DatasetName) -> Decision:
    row = tx.execute(
        select(decisions).where(
            decisions.c.org_id == tx.org_id, decisions.c.decision_id == decision_id
        )
    ).one()
    return _decision(row, dataset)


def _decision(row: Row[Any], dataset: DatasetName) -> Decision:
    return Decision(
        decision_id=row.decision_id,
        run_id=row.run_id,
        dataset=dataset,
        dataset_id=row.dataset_id,
        ruling=Ruling.from_json(row.ruling),
        case=CaseHashes(
            facts=row.facts_hash,
            evidence=row.evidence_hash,
            ruleset=row.ruleset_hash,
            policies=row.policies_hash,
            history=row.history_hash,
        ),
    )


# Samples of failing rows, stored once per run.


def record_samples(tx: Transaction, run_id: str, samples: Iterable[RowSample]) -> None:
    at = tx.now()
    rows = [
        {
            "run_id": run_id,
            "rule_id": sample.rule_id,
            "org_id": tx.org_id,
            "sample_columns": canonical_json(sample.columns),
            "sample_rows": canonical_json(sample.rows),
            "masked_columns": canonical_json(sample.masked),
            "taken_at": at,
        }
        for sample in samples
    ]
    outbox.record(tx, rule_samples, rows, at)


def samples_of_run(tx: Transaction, run_id: str) -> tuple[RowSample, ...]:
    """By rule."""
    table = rule_samples.c
    rows = tx.execute(
        select(rule_samples)
        .where(table.org_id == tx.org_id, table.run_id == run_id)
        .order_by(table.rule_id)
    )
    return tuple(sorted(map(_sample, rows), key=lambda sample: sample.rule_id))


def _sample(row: Row[Any]) -> RowSample:
    return RowSample(
        rule_id=row.rule_id,
        columns=json.loads(row.sample_columns),
        rows=json.loads(row.sample_rows),
        masked=json.loads(row.masked_columns),
    )
