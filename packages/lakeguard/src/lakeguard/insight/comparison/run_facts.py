"""Evidence of runs, and the build type of each version."""

from __future__ import annotations

import json
from typing import cast

from sqlalchemy import select

from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import get_document
from lakeguard.state.schema import (
    data_versions,
    dataset_registry_revisions,
    intents,
    run_openings,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.read_models import BuildKind, RunFacts, RunRow

NO_BUILDS = (MoveKind.COMPACTION.value, MoveKind.ROLLBACK.value)
"""Run kinds without rows and rules."""


def facts_of_run(tx: Transaction, run: RunRow) -> RunFacts | None:
    """None if the run has no evidence of its own, as a rollback."""
    decision = decision_of_run(tx, run.run_id, run.dataset)
    if decision is None or decision.case.evidence is None:
        return None
    evidence = Evidence.from_json(get_document(tx, decision.case.evidence))
    if evidence.run_id != run.run_id:
        return None
    return RunFacts(
        rows=evidence.rows,
        changes=evidence.changes,
        rejected=evidence.rejected,
        quarantined=evidence.quarantined.rows if evidence.quarantined else 0,
        notes=evidence.notes,
    )


def build_kinds(tx: Transaction, dataset_id: str) -> dict[str, BuildKind]:
    """Build types by run."""
    openings, revisions = run_openings.c, dataset_registry_revisions.c
    rows = tx.execute(
        select(openings.run_id, openings.dataset_revision, intents.c.kind)
        .join(data_versions, data_versions.c.run_id == openings.run_id)
        .join(intents, intents.c.run_id == openings.run_id, isouter=True)
        .where(data_versions.c.dataset_id == dataset_id)
    )
    by_run: dict[str, int] = {}
    adopted: dict[str, BuildKind] = {}
    for row in rows:
        if row.kind == MoveKind.ADOPTION.value:
            adopted[row.run_id] = "adoption"
        else:
            by_run[row.run_id] = row.dataset_revision
    definitions = tx.execute(
        select(revisions.revision, revisions.definition).where(
            revisions.dataset_id == dataset_id, revisions.revision.in_(set(by_run.values()))
        )
    )
    kinds = {row.revision: _kind(row.definition) for row in definitions}
    built = {run: kinds[revision] for run, revision in by_run.items() if revision in kinds}
    return built | adopted


def _kind(definition: str) -> BuildKind:
    return cast(BuildKind, json.loads(definition)["build"]["build"])
