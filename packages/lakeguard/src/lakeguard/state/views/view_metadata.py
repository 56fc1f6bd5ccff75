"""Metadata of views, and the SELECT of the latest row per key."""

from __future__ import annotations

from sqlalchemy import MetaData, Table

view_metadata = MetaData()


def current(
    view: Table,
    keys: tuple[str, ...],
    *,
    source: str | None = None,
    order: str = "revision",
    but: dict[str, str] | None = None,
    where: str = "",
) -> str:
    """The latest row per key; ``but`` gives the SQL of columns missing from ``source``."""
    table = source or f"{view.name}_revisions"
    columns = ", ".join((but or {}).get(c.name, f"r.{c.name}") for c in view.columns)
    same = " AND ".join(f"n.{key} = r.{key}" for key in keys)
    later = f"SELECT 1 FROM {table} n WHERE {same} AND n.{order} > r.{order}"
    return f"SELECT {columns} FROM {table} r WHERE {where}NOT EXISTS ({later})"
