"""Abandoned graph versions: going back to a version abandons newer ones."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from lakeguard.state.schema import dag_activations
from lakeguard.state.tables.metadata import Id
from lakeguard.state.transaction import Transaction


def graph_lock(org_id: str) -> str:
    """Lock name: exclusive to activate a graph, shared to launch under it."""
    return f"graph:{org_id}"


def left_graphs(tx: Transaction, among: Collection[str] | None = None) -> dict[str, str]:
    """Versions first activated after the active one, each with the active one's id.

    Activations are numbered, so clocks do not matter. The answer is stable for a caller that has
    locked a task: going back locks the open tasks of abandoned versions in the transaction that
    activates the other.
    """
    if among is None:
        rows = tx.execute(_left(), {"org_id": tx.org_id})
    elif among:
        rows = tx.execute(_left_among(), {"org_id": tx.org_id, "among": sorted(among)})
    else:
        return {}
    return {row.dag_version_id: row.active for row in rows}


@cache
def _left_among() -> Select[Any]:
    left = _left()
    return left.where(left.selected_columns[0].in_(bindparam("among", expanding=True)))


@cache
def _left() -> Select[Any]:
    table, org_id = dag_activations.c, bindparam("org_id", type_=Id)
    active = (
        select(table.dag_version_id)
        .where(table.org_id == org_id)
        .order_by(table.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    first = (
        select(table.dag_version_id, func.min(table.number).label("number"))
        .where(table.org_id == org_id)
        .group_by(table.dag_version_id)
        .subquery()
    )
    known = first.alias("known")
    return (
        select(first.c.dag_version_id, known.c.dag_version_id.label("active"))
        .join(known, first.c.number > known.c.number)
        .where(known.c.dag_version_id == active)
    )
