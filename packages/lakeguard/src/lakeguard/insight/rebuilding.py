"""What it takes to build a run again, as the ledger has kept it."""

from __future__ import annotations

from sqlalchemy import Connection, select

from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.openings import Opening, opening_of, schema_verdict
from lakeguard.state.tables import tasks
from lakeguard_sdk.errors import NotRebuildable, UnknownRun
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.reading import RunRow
from lakeguard_sdk.rebuild import RebuildPlan
from lakeguard_sdk.run import FrameBuild
from lakeguard_sdk.words import TaskKind


def rebuild_plan(connection: Connection, org_id: str, run: RunRow) -> RebuildPlan:
    """The plan that the run opened with and the answer to its schema; NotRebuildable with the
    reason where there is none, or where a program handed its rows in."""
    kind = connection.scalar(select(tasks.c.kind).where(tasks.c.task_id == run.task_id))
    if kind != TaskKind.BUILD.value:
        raise NotRebuildable(run=run.run_id, reason=f"it is a {kind}, which builds nothing")
    opening = _opening(connection, org_id, run)
    if isinstance(opening.plan.build, FrameBuild):
        reason = "a program handed its rows in, and they were not kept"
        raise NotRebuildable(run=run.run_id, reason=reason)
    verdict = schema_verdict(connection, org_id, run.run_id)
    decision = decision_of_run(connection, org_id, run.run_id, run.dataset)
    hashed = None if decision is None else decision.case.evidence
    if verdict is None or hashed is None:
        raise NotRebuildable(run=run.run_id, reason="it came to no evidence of its own")
    evidence = Evidence.from_json(get_document(connection, org_id, hashed))
    return RebuildPlan(run=opening.plan, verdict=verdict, evidence=evidence, version=run.version)


def _opening(connection: Connection, org_id: str, run: RunRow) -> Opening:
    try:
        return opening_of(connection, org_id, run.run_id)
    except UnknownRun as error:
        reason = "it was refused before it opened"
        raise NotRebuildable(run=run.run_id, reason=reason) from error
