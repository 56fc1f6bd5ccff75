"""The registered datasets of an organisation, cached until the next apply."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

from lakeguard.state.connections import is_reading
from lakeguard.state.tables.definitions import registry_applies
from lakeguard.state.transaction import Transaction
from lakeguard.state.views.views import dataset_registry
from lakeguard_sdk.model.read_models import DatasetRow

_MOST = 8
"""Organisations whose datasets are cached, each as of one apply."""


@dataclass(frozen=True, eq=False)
class Registered:
    """The datasets after one apply; compared by identity."""

    datasets: tuple[DatasetRow, ...]
    """By name."""


_remembered: dict[str, tuple[str, Registered]] = {}
"""By organisation: the id of the last apply, and the datasets after it."""


def registered_datasets(tx: Transaction) -> Registered:
    """Cached by the id of the last apply.

    Not outside of a snapshot: an apply could come between reading its id and the rows.
    """
    if not is_reading(tx.connection):
        return _read(tx)
    applies = registry_applies.c
    last = select(applies.apply_id).where(applies.org_id == tx.org_id)
    apply_id = tx.scalar(last.order_by(applies.ordinal.desc()).limit(1))
    if apply_id is None:
        return _read(tx)
    known = _remembered.get(tx.org_id)
    if known is not None and known[0] == apply_id:
        return known[1]
    found = _read(tx)
    if tx.org_id not in _remembered and len(_remembered) >= _MOST:
        _remembered.clear()
    _remembered[tx.org_id] = (apply_id, found)
    return found


def dataset_rows(tx: Transaction, *conditions: ColumnElement[bool]) -> list[DatasetRow]:
    """Those that meet the conditions, by name."""
    view, fields = dataset_registry.c, tuple(DatasetRow.model_fields)
    query = select(*(view[field] for field in fields)).where(view.org_id == tx.org_id, *conditions)
    rows = tx.execute(query.order_by(view.dataset_name))
    return [DatasetRow(**dict(zip(fields, row, strict=True))) for row in rows]


def _read(tx: Transaction) -> Registered:
    return Registered(tuple(dataset_rows(tx)))
