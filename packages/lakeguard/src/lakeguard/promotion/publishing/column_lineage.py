"""Column lineage of a run's result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lakeguard.ledger.lineage import UNKNOWN, Arrow, lineage_of
from lakeguard.ledger.openings import lineage_of_run, opened_revision, opening_of
from lakeguard.ledger.versions import require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import definition_at
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.model.definitions import FromSql
from lakeguard_sdk.model.lineage import BatchLineage, SourceColumn
from lakeguard_sdk.model.load import load_columns
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import InputPin, Intent, RunPlan

Pins = dict[DatasetName, InputPin]


class Made(NamedTuple):
    """Edges by lower-case column; None if unknown."""

    columns: dict[str, list[Arrow] | None] = {}  # noqa: RUF012 - never changed
    complete: bool = False
    """Whether the build shows no other columns."""


def column_descent(context: PlaneContext, intent: Intent) -> tuple[Arrow, ...]:
    """Every arrow that the build shows, or that the run reported. What cannot be followed comes
    from columns of every input that are not known. No
    text of a build is an error here: it would keep a move open that is made.

    What is written in no way from an input has no arrow: a source's columns, those that the load
    itself writes, a constant. An adoption or a rollback builds nothing. Quarantined rows come from
    where those of the base came from.
    """
    if intent.kind is not MoveKind.PUBLISH:
        return ()
    with context.read() as tx:
        plan = opening_of(tx, intent.run_id).plan
        if isinstance(plan.build, QuarantineBuild) and plan.base is not None:
            return tuple(lineage_of(tx, plan.dataset_id, plan.base.version))
        reported = lineage_of_run(tx, intent.run_id)
        if reported is not None and not reported.by_definition:
            return tuple(_reported(tx, reported, intent))
        pins = {pin.input.dataset: pin for pin in plan.pins}
        if not pins:
            return ()
        text = _text(tx, plan)
    try:
        made = _followed(text, pins) if text else Made()
    except Exception:  # noqa: BLE001 - the commit stands, whatever is known of its columns
        made = Made()
    written = {column.name for column in load_columns(plan.load)}
    names = [name for name in intent.table_schema.names if name not in written]
    return tuple(arrow for name in names for arrow in _arrows(name, made, pins))


def _reported(tx: Transaction, lineage: BatchLineage, intent: Intent) -> Iterator[Arrow]:
    """As the run reported it; names of inputs are those of their versions."""
    for name in intent.table_schema.names:
        column = lineage.column(name)
        if column is not None and column.unknown:
            yield from (Arrow(name, pin.dataset_id, UNKNOWN) for pin in lineage.read)
        elif column is not None:
            for source in column.sources:
                yield Arrow(name, source.dataset_id, _spelt(tx, source))


def _spelt(tx: Transaction, source: SourceColumn) -> str:
    if source.any_column:
        return UNKNOWN
    names = require_version(tx, source.dataset_id, source.version).table_schema.names
    return {name.casefold(): name for name in names}.get(source.column.casefold(), UNKNOWN)


def _text(tx: Transaction, plan: RunPlan) -> str:
    """The run's SELECT; empty if there is none to analyse."""
    revision = opened_revision(tx, plan.ticket.run_id)
    if revision is None or plan.transform:
        return ""
    build = definition_at(tx, plan.dataset_id, revision).build
    return build.text if isinstance(build, FromSql) else ""


def _followed(text: str, pins: Pins) -> Made:
    from lakeguard.registry.sql.lineage import column_lineage

    found = column_lineage(text, {name: pin.table_schema for name, pin in pins.items()})
    columns: dict[str, list[Arrow] | None] = {}
    for column, sources in found.columns.items():
        columns[column] = None
        if sources is not None and all(source.dataset in pins for source in sources):
            columns[column] = [
                _arrow(column, pins[source.dataset], source.column) for source in sources
            ]
    return Made(columns, complete=found.complete)


def _arrow(column: str, pin: InputPin, source: str) -> Arrow:
    """Use the input's own column name."""
    names = {name.casefold(): name for name in pin.table_schema.names}
    return Arrow(column, pin.input.dataset_id, names.get(source, source))


def _arrows(name: str, made: Made, pins: Pins) -> Iterator[Arrow]:
    """A column that the SELECT does not show is NULL and has no lineage."""
    found = made.columns.get(name.casefold(), [] if made.complete else None)
    if found is None:
        yield from (Arrow(name, pin.input.dataset_id, UNKNOWN) for pin in pins.values())
        return
    yield from (arrow._replace(column=name) for arrow in found)
