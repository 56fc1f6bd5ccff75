"""Columns that came with the data become part of the definition, in the publish that shows them."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.openings import opening_of, schema_verdict
from lakeguard.promotion.heart import Heart, OpenRun
from lakeguard.registry.drift import drifted, undrifted
from lakeguard.registry.kinds import gathered
from lakeguard.registry.planning import make_plan
from lakeguard.registry.store import RegisteredDataset, apply_plan, read_state
from lakeguard_sdk.definition_errors import InvalidDefinitions
from lakeguard_sdk.schema import TableSchema


def record_drift(connection: Connection, heart: Heart, run: OpenRun) -> None:
    """A revision of the dataset with what the run's verdict accepted; none where that was nothing.

    What a person revised while the run was under way counts. Where the registry no longer takes
    the columns, the version is published all the same, and ``schema diff`` shows them.
    """
    run_id = run.plan.ticket.run_id
    verdict = schema_verdict(connection, heart.org_id, run_id)
    if verdict is None or verdict.declared is None:
        return
    planned = opening_of(connection, heart.org_id, run_id).plan.declared
    found = _accepted_now(run, planned, verdict.declared)
    definition = drifted(run.dataset.definition, found)
    try:
        plan = make_plan(gathered([definition]), read_state(connection, heart.org_id), heart.lake)
    except InvalidDefinitions:
        return
    names = ", ".join(found.names)
    reason = f"{run_id} brought {names}"
    apply_plan(connection, plan, heart.org_id, "drift", heart.clock(), heart.lake, reason)


def take_back_drift(
    connection: Connection,
    heart: Heart,
    dataset: RegisteredDataset,
    shown: TableSchema,
    reason: str,
) -> None:
    """A revision without what came with the data after the version that is shown again; none
    where that was nothing. What a person declared stays.

    Where something else of the definition needs such a column, all of it stays as it is.
    """
    definition = undrifted(dataset.definition, shown)
    if definition == dataset.definition:
        return
    state = read_state(connection, heart.org_id)
    try:
        plan = make_plan(gathered([definition]), state, heart.lake, keep_drift=False)
    except InvalidDefinitions:
        return
    at = heart.clock()
    apply_plan(connection, plan, heart.org_id, "drift", at, heart.lake, reason, keep_drift=False)


def _accepted_now(run: OpenRun, planned: TableSchema, declared: TableSchema) -> TableSchema:
    """New and wider columns, those apart of which the definition says something else by now."""
    now = run.dataset.definition.declared
    columns = [column for column in declared.columns if column not in planned.columns]
    return TableSchema(
        columns=tuple(c for c in columns if now.type_of(c.name) == planned.type_of(c.name))
    )
