"""A mark of a role on a PostgreSQL server: it tells two of them apart, and nothing else of them."""

from __future__ import annotations

from lakeguard_sdk.canonical import content_hash

MAY_ASK = "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'execute')"
ASK = "SELECT system_identifier, session_user FROM pg_catalog.pg_control_system()"
"""Where it may be asked: a server has one number wherever it is reached from."""


def role_mark(system: object, role: object) -> str:
    return content_hash([str(system), str(role)])
