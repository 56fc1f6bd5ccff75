"""Graphs that were left: going back to a version makes those that are newer come to nothing."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from lakeguard.state.tables import dag_activations, dag_versions


def left_graphs(
    connection: Connection, org_id: str, among: Collection[str] | None = None
) -> dict[str, str]:
    """Versions that were made after the active one, each with the id of that one.

    Whoever holds a task first is told what stays so until he is done: going back holds the open
    tasks of the versions that it leaves, in the transaction that activates the other.
    """
    if among is not None and not among:
        return {}
    active = (
        select(dag_activations.c.dag_version_id)
        .where(dag_activations.c.org_id == org_id)
        .order_by(dag_activations.c.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    known = dag_versions.alias("known")
    query = (
        select(dag_versions.c.dag_version_id, known.c.dag_version_id.label("active"))
        .join(known, dag_versions.c.org_id == known.c.org_id)
        .where(
            known.c.org_id == org_id,
            known.c.dag_version_id == active,
            dag_versions.c.dag_version_id != known.c.dag_version_id,
            dag_versions.c.created_at >= known.c.created_at,
        )
    )
    if among is not None:
        query = query.where(dag_versions.c.dag_version_id.in_(sorted(among)))
    return {row.dag_version_id: row.active for row in connection.execute(query)}
