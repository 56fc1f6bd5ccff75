"""Reads the markers of a schema, without changes."""

from __future__ import annotations

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from pydantic import ValidationError

from lakeguard_sdk.errors import SecretMissing
from lakeguard_sdk.model.delivery import MARKERS, DataPlace, Marker, PlaceMarkers
from lakeguard_sdk.security.secret_references import resolve_all, without
from openlaketx.deliver.postgresql.connection import opened

_READ_ONLY = "SET default_transaction_read_only = on"
_THERE = "SELECT to_regclass(%s) IS NOT NULL"
_EVERY = sql.SQL(
    "SELECT m.*, to_regclass(format('%%I.%%I', %s::text, m.table_name)) IS NOT NULL AS table_there"
    " FROM {} m ORDER BY m.table_name"
)


def scan_place(place: DataPlace) -> PlaceMarkers:
    """Every marker, or why they cannot be read; empty if nothing was delivered there."""
    secrets: dict[str, str] = {}
    try:
        secrets = resolve_all(place.secrets)
        with opened(place.url, secrets) as connection:
            connection.execute(_READ_ONLY)
            name = sql.Identifier(place.schema_name, MARKERS)
            found = connection.execute(_THERE, [name.as_string(connection)]).fetchone()
            if found is None or not found[0]:
                return PlaceMarkers(place=place)
            with connection.cursor(row_factory=dict_row) as cursor:
                rows = cursor.execute(_EVERY.format(name), [place.schema_name]).fetchall()
    except SecretMissing as error:
        return PlaceMarkers(place=place, problem=str(error))
    except psycopg.Error as error:
        lines = without(str(error), secrets.values()).splitlines() or [type(error).__name__]
        return PlaceMarkers(place=place, problem=lines[0])
    markers: list[Marker] = []
    for row in rows:
        try:
            markers.append(_marker(row))
        except ValidationError as error:
            return PlaceMarkers(place=place, problem=_unreadable(row, error))
    return PlaceMarkers(place=place, markers=tuple(markers))


def _marker(row: dict[str, object]) -> Marker:
    """Users may have added columns; a missing one is a ValidationError."""
    return Marker.model_validate({name: row[name] for name in Marker.model_fields if name in row})


def _unreadable(row: dict[str, object], error: ValidationError) -> str:
    wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
    column = ".".join(map(str, wrong["loc"]))
    return f"{MARKERS}, table_name {row.get('table_name')}: {column}: {wrong['msg']}"
