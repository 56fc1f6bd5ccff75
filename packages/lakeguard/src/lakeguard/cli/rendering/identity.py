"""Rendering of organisations, users, grants and service tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from lakeguard.cli.terminal.layout import GAP, Tone, moment, strong, table, toned
from lakeguard.services.plain_text import escaped

if TYPE_CHECKING:
    from lakeguard.access.grants import GrantRow, UserRow
    from lakeguard.access.service_tokens import TokenRow
    from lakeguard.services.manage_identity import OrganisationRow

_EVERYTHING = "everything"


def organisation_lines(rows: Sequence[OrganisationRow]) -> list[str]:
    found = [
        [escaped(row.organisation), _state(active=row.active), moment(row.created_at)]
        for row in rows
    ]
    return table(("ORGANISATION", "STATE", "CREATED"), found) if found else ["no organisations"]


def user_lines(rows: Sequence[UserRow]) -> list[str]:
    found = [
        [escaped(row.user_name), _state(active=row.active), row.origin, moment(row.created_at)]
        for row in rows
    ]
    return table(("USER", "STATE", "ORIGIN", "CREATED"), found) if found else ["no users"]


def grants_lines(rows: Sequence[GrantRow]) -> list[str]:
    """Oldest first."""
    found = [
        [
            row.grant_id,
            escaped(row.user_name),
            row.role,
            escaped(row.on) or _EVERYTHING,
            _state(active=row.revoked_at is None),
            escaped(row.granted_by),
            moment(row.granted_at),
        ]
        for row in rows
    ]
    headers = ("GRANT", "USER", "ROLE", "ON", "STATE", "BY", "AT")
    return table(headers, found) if found else ["no grants"]


def grant_lines(row: GrantRow) -> list[str]:
    what = f"{row.role} on {escaped(row.on) or _EVERYTHING}"
    if row.revoked_at is not None:
        return [f"{toned('✓ REVOKED', Tone.GOOD)}  {strong(escaped(row.user_name))}{GAP}{what}"]
    done = f"{toned('✓ GRANTED', Tone.GOOD)}  {strong(escaped(row.user_name))}{GAP}{what}"
    return [done, f'  revoke: lakeguard role revoke {row.grant_id} --reason "…"']


def tokens_lines(rows: Sequence[TokenRow], now: datetime) -> list[str]:
    """By name."""
    found = [
        [
            escaped(row.token_name),
            " ".join(row.actions),
            escaped(" ".join(row.on)) or _EVERYTHING,
            "yes" if row.pii else "",
            _token_state(row, now),
            moment(row.expires_at) if row.expires_at else "",
            moment(row.last_used_at) if row.last_used_at else "never",
        ]
        for row in rows
    ]
    headers = ("TOKEN", "ALLOW", "ON", "PII", "STATE", "UNTIL", "LAST USED")
    return table(headers, found) if found else ["no service tokens"]


def secret_lines(text: str) -> list[str]:
    """Only the token, so that scripts can read it."""
    return [text]


def _token_state(row: TokenRow, now: datetime) -> str:
    if row.revoked_at is not None:
        return toned("REVOKED", Tone.QUIET)
    if row.expires_at is not None and row.expires_at <= now:
        return toned("EXPIRED", Tone.QUIET)
    return _state(active=True) if row.has_secret else toned("NO SECRET", Tone.WARN)


def _state(*, active: bool) -> str:
    return toned("ACTIVE", Tone.GOOD) if active else toned("REVOKED", Tone.QUIET)
