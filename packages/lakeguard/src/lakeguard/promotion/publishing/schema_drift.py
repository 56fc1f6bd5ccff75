"""Adds drifted columns to the definition, in the publish that makes them visible."""

from __future__ import annotations

from lakeguard.ledger.intents import open_publishes
from lakeguard.ledger.openings import opening_of, schema_verdict
from lakeguard.ledger.versions import StoredVersion
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.records.version_facts import definition_of_version
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.editing.drift import (
    drifted,
    redrifted,
    renamed_columns,
    undrifted,
)
from lakeguard.registry.kinds import gathered
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import (
    RegisteredDataset,
    dataset_by_id,
    hold_registry,
    read_state,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import ColumnsInFlight, DefinitionChanged, InvalidDefinitions
from lakeguard_sdk.model.plan import Plan
from lakeguard_sdk.types.schema import TableSchema


def record_drift(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, run_id: str
) -> None:
    """Revise the dataset with the columns that the run's verdict accepted, if any.

    Concurrent revisions by users are kept: since the move began, no conflicting one can be
    applied. If one was, bypassing the registry, the commit stands and ``schema diff`` shows it.
    """
    if not _brought(tx, dataset, run_id).columns:
        return
    now = _held(tx, dataset)
    found = _brought(tx, now, run_id)
    if not found.columns:
        return
    try:
        plan = _plan(tx, context, now, run_id, found)
    except DefinitionChanged:
        return
    reason = f"{run_id} brought {', '.join(found.names)}"
    apply_plan(tx, plan, "drift", tx.now(), context.lake, reason)


def require_room(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, run_id: str
) -> None:
    """Raises ``DefinitionChanged`` if the current definition does not accept the run's columns.

    Otherwise the definition is locked until the transaction ends.
    """
    if _brought(tx, dataset, run_id).columns:
        now = _held(tx, dataset)
        _plan(tx, context, now, run_id, _brought(tx, now, run_id))


def require_room_for_moves(tx: Transaction, context: PlaneContext) -> None:
    """After an apply: raises ``ColumnsInFlight`` if a definition rejects the columns of an open
    move."""
    for run_id, dataset_id in open_publishes(tx):
        dataset = dataset_by_id(tx, dataset_id)
        try:
            require_room(tx, context, dataset, run_id)
        except DefinitionChanged as error:
            raise ColumnsInFlight(**error.fields) from None


def follow_shown(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, version: StoredVersion
) -> None:
    """A revision with exactly what had come with the data by the version that is shown again;
    none where the definition has that already. What a person declared, or left out, stays so.

    Where something else of the definition needs such a column, all of it stays as it is.
    """
    now = _held(tx, dataset).definition
    definition = undrifted(now, version.table_schema)
    then = definition_of_version(tx, version)
    if then is not None:
        definition = redrifted(definition, then)
    if definition == now:
        return
    state = read_state(tx)
    try:
        plan = make_plan(gathered([definition]), state, context.lake, keep_drift=False)
    except InvalidDefinitions:
        return
    at, reason = tx.now(), f"rolled back to v{version.version}"
    apply_plan(tx, plan, "drift", at, context.lake, reason, keep_drift=False)


def _held(tx: Transaction, dataset: RegisteredDataset) -> RegisteredDataset:
    """The dataset, locked until the transaction ends."""
    hold_registry(tx)
    return dataset_by_id(tx, dataset.dataset_id)


def _brought(tx: Transaction, dataset: RegisteredDataset, run_id: str) -> TableSchema:
    """New and wider columns, except those that the definition now declares differently."""
    verdict = schema_verdict(tx, run_id)
    if verdict is None or verdict.declared is None:
        return TableSchema(columns=())
    planned = opening_of(tx, run_id).plan.declared
    now = dataset.definition.declared
    columns = [column for column in verdict.declared.columns if column not in planned.columns]
    return TableSchema(
        columns=tuple(c for c in columns if now.type_of(c.name) == planned.type_of(c.name))
    )


def _plan(
    tx: Transaction,
    context: PlaneContext,
    dataset: RegisteredDataset,
    run_id: str,
    found: TableSchema,
) -> Plan:
    verdict = schema_verdict(tx, run_id)
    renamed = renamed_columns(verdict.differences) if verdict else {}
    definition = drifted(dataset.definition, found, renamed)
    try:
        return make_plan(gathered([definition]), read_state(tx), context.lake)
    except InvalidDefinitions as error:
        columns, problem = ", ".join(found.names), str(error.errors[0])
        raise DefinitionChanged(
            dataset=dataset.name, columns=columns, run=run_id, problem=problem
        ) from None
