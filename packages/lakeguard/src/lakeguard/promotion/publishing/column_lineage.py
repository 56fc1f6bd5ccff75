"""Column lineage of a run's result."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.ledger.lineage import UNKNOWN, Arrow, lineage_of
from lakeguard.ledger.openings import opened_revision, opening_of
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import definition_at
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.model.definitions import FromSql
from lakeguard_sdk.model.load import load_columns
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import InputPin, Intent, RunPlan

Pins = dict[DatasetName, InputPin]
Made = dict[str, list[Arrow] | None]
"""Keyed by lower-case column; None if unknown."""


def column_descent(context: PlaneContext, intent: Intent) -> tuple[Arrow, ...]:
    """Every arrow that the build shows. What cannot be followed, as a function of Python or what
    the target's transform makes anew, comes from columns of every input that are not known. No
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
        pins = {pin.input.dataset: pin for pin in plan.pins}
        if not pins:
            return ()
        text = _text(tx, plan)
    try:
        made = _followed(text, pins) if text else {}
    except Exception:  # noqa: BLE001 - the commit stands, whatever is known of its columns
        made = {}
    written = {column.name for column in load_columns(plan.load)}
    names = [name for name in intent.table_schema.names if name not in written]
    return tuple(arrow for name in names for arrow in _arrows(name, made, pins))


def _text(tx: Transaction, plan: RunPlan) -> str:
    """The run's SELECT; empty if there is none to analyse."""
    revision = opened_revision(tx, plan.ticket.run_id)
    if revision is None or plan.transform:
        return ""
    build = definition_at(tx, plan.dataset_id, revision).build
    return build.text if isinstance(build, FromSql) else ""


def _followed(text: str, pins: Pins) -> Made:
    from lakeguard.registry.sql.lineage import column_sources

    found = column_sources(text, {name: pin.table_schema for name, pin in pins.items()})
    result: Made = {}
    for column, sources in found.items():
        known = sources is not None and all(source.dataset in pins for source in sources)
        result[column] = None
        if sources is not None and known:
            result[column] = [
                _arrow(column, pins[source.dataset], source.column) for source in sources
            ]
    return result


def _arrow(column: str, pin: InputPin, source: str) -> Arrow:
    """Use the input's own column name."""
    names = {name.casefold(): name for name in pin.table_schema.names}
    return Arrow(column, pin.input.dataset_id, names.get(source, source))


def _arrows(name: str, made: Made, pins: Pins) -> Iterator[Arrow]:
    """A column missing from the SELECT is NULL and has no lineage."""
    found = made.get(name.casefold(), []) if made else None
    if found is None:
        yield from (Arrow(name, pin.input.dataset_id, UNKNOWN) for pin in pins.values())
        return
    yield from (arrow._replace(column=name) for arrow in found)
