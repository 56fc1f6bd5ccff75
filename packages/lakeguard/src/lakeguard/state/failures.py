"""What a failure of the database means: whether to retry, and the way out."""

from __future__ import annotations

import re
import sqlite3
import struct
from pathlib import Path

from lakeguard_sdk.errors import (
    StateDamaged,
    StateError,
    StateFull,
    StateLocked,
    StateLoginRefused,
    StateReadOnly,
    StateRefused,
)

_SQLITE: dict[int, type[StateError]] = {
    sqlite3.SQLITE_BUSY: StateLocked,
    sqlite3.SQLITE_LOCKED: StateLocked,
    sqlite3.SQLITE_FULL: StateFull,
    sqlite3.SQLITE_READONLY: StateReadOnly,
    sqlite3.SQLITE_PERM: StateReadOnly,
    sqlite3.SQLITE_CANTOPEN: StateReadOnly,
    sqlite3.SQLITE_AUTH: StateReadOnly,
    sqlite3.SQLITE_CORRUPT: StateDamaged,
    sqlite3.SQLITE_NOTADB: StateDamaged,
}
"""By primary result code of SQLite."""
_POSTGRESQL: dict[str, type[StateError]] = {
    "42501": StateRefused,
    "55P03": StateLocked,
    "53100": StateFull,
    "25006": StateReadOnly,
    "XX001": StateDamaged,
    "XX002": StateDamaged,
}
"""By SQLSTATE."""


def meaning_of(error: BaseException | None) -> type[StateError] | None:
    """The class of error that a driver's error stands for; None if it has no meaning of its own."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE.get(code & 0xFF)
    found = _POSTGRESQL.get(str(getattr(error, "sqlstate", None)))
    if found is None and _lets_nobody_in(error):
        return StateLoginRefused
    return found


# Login refused (wrong password, unknown user or database), as opposed to an unreachable server.

_STATES = ("28", "3D000")
"""PostgreSQL: invalid authorisation or password, or no such database."""
_WORDS = re.compile(
    r"fe_sendauth: no password supplied"
    r"|FATAL:  (?:(?:password|Peer|certificate) authentication failed for user "
    r'|role ".*" (?:does not exist|is not permitted to log in)'
    r'|database ".*" does not exist'
    r"|permission denied for database "
    r"|no pg_hba\.conf entry |pg_hba\.conf rejects )"
)


def _lets_nobody_in(error: BaseException | None) -> bool:
    """Whether a retry is pointless until the settings or the server change.

    While connecting, the driver reports the server's message but no SQLSTATE. Messages of a
    localised server are not recognised and count as unreachable.
    """
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return str(state).startswith(_STATES)
    return _WORDS.search(str(error).strip().partition("\n")[0]) is not None


# Truncated SQLite files: SQLite notices only when it needs a page that is missing.

_HEADER = 100
_MAGIC = b"SQLite format 3\x00"


def truncation_of(path: Path) -> str:
    """Why the file is shorter than its header says; empty if it is not. Cheap: reads the header.

    While a journal exists, a commit is under way or has to be rolled back: nothing is said then.
    """
    if path.with_name(f"{path.name}-journal").exists():
        return ""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER)
        size = path.stat().st_size
    except OSError:
        return ""
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        return "" if not head else "the file is not a database"
    (page,) = struct.unpack(">H", head[16:18])
    changed, pages, valid_for = (
        struct.unpack(">I", head[start : start + 4])[0] for start in (24, 28, 92)
    )
    expected = pages * (65_536 if page == 1 else page)
    if changed != valid_for or size >= expected:  # the page count is only then up to date
        return ""
    return f"the file is truncated: {size:,} of {expected:,} bytes"
