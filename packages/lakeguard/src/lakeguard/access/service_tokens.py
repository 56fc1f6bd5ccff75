"""Service tokens: credentials of programs.

A token is ``lgs1_ORGANISATION.SECRET_ID.SECRET``. The id is public; of the secret, 256 random
bits, only a keyed hash is stored.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, or_, select, update

from lakeguard.access.authorise import GRANTABLE
from lakeguard.access.grants import (
    is_active,
    record_change,
    record_revocation,
    shown_namespaces,
    stored_namespace,
)
from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import (
    Action,
    Grant,
    Namespace,
    NamespaceKind,
    Principal,
    PrincipalKind,
)
from lakeguard.state import outbox
from lakeguard.state.bulk_writes import insert_all
from lakeguard.state.locks import hold
from lakeguard.state.schema import access_revocations, service_token_secrets, service_tokens
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import BadToken, ServiceTokenInvalid, UnknownServiceToken
from lakeguard_sdk.scheduling.task_token import SERVICE_PREFIX

PREFIX = SERVICE_PREFIX
LONGEST_NAME = 100
_SHAPE = re.compile(
    rf"{PREFIX}(?P<org>[a-z][a-z0-9_]{{0,127}})\.(?P<id>key_[0-9A-Z]{{26}})"
    r"\.(?P<secret>[A-Za-z0-9_-]{43})\Z",
    re.ASCII,
)
_USED_EVERY = timedelta(minutes=1)


class ShownToken(NamedTuple):
    """A new token with its text, which is shown only once."""

    token_id: str
    text: str


class Presented(NamedTuple):
    """A parsed token."""

    org_id: str
    secret_id: str
    secret: str


class TokenRow(FrozenModel):
    token_id: str
    token_name: str
    actions: tuple[Action, ...]
    on: tuple[str, ...]
    """As ``token create --on`` takes them; empty for everything."""
    pii: bool
    created_by: str
    created_at: Instant
    expires_at: Instant | None = None
    revoked_at: Instant | None = None
    last_used_at: Instant | None = None
    has_secret: bool = True
    """False after a rebuild, until the token is rotated."""


def create_token(
    tx: Transaction,
    keys: IdentityKeys,
    name: str,
    actions: Sequence[Action],
    on: Sequence[Namespace],
    *,
    pii: bool = False,
    expires_at: datetime | None = None,
) -> ShownToken:
    hold(tx, f"identity:{tx.org_id}")
    at = tx.now()
    _check(tx, name, actions, expires_at, at)
    namespaces = sorted({stored_namespace(tx, each) for each in on}, key=str) or [Namespace()]
    row = {
        "token_id": new_id("tok"),
        "org_id": tx.org_id,
        "token_name": name,
        "actions": canonical_json(sorted({action.value for action in actions})),
        "namespaces": canonical_json([[each.kind.value, each.name] for each in namespaces]),
        "pii": pii,
        "created_by": tx.actor,
        "created_at": at,
        "expires_at": expires_at,
    }
    outbox.record(tx, service_tokens, [row], at)
    return _with_secret(tx, keys, str(row["token_id"]), at)


def rotate_token(tx: Transaction, keys: IdentityKeys, name: str, overlap: timedelta) -> ShownToken:
    """A new secret; earlier secrets stay valid for the overlap."""
    hold(tx, f"identity:{tx.org_id}")
    token_id, at = _held(tx, name), tx.now()
    table = service_token_secrets
    ends_at = at + overlap
    tx.execute(
        update(table)
        .where(
            table.c.org_id == tx.org_id,
            table.c.token_id == token_id,
            or_(table.c.ends_at.is_(None), table.c.ends_at > ends_at),
        )
        .values(ends_at=ends_at)
    )
    record_change(tx, "token", token_id)
    return _with_secret(tx, keys, token_id, at)


def revoke_token(tx: Transaction, name: str, reason: str) -> str:
    """Revokes all secrets of the token; returns its id."""
    hold(tx, f"identity:{tx.org_id}")
    token_id = _held(tx, name)
    record_revocation(tx, token_id, "token", reason)
    return token_id


def token_rows(tx: Transaction, *, every: bool) -> list[TokenRow]:
    """By name; with ``every``, also revoked ones."""
    table, gone = service_tokens.c, access_revocations.c
    query = _with_revocations(select(service_tokens, gone.revoked_at).select_from(service_tokens))
    query = query.where(table.org_id == tx.org_id)
    if not every:
        query = query.where(gone.revoked_id.is_(None))
    uses = _uses(tx)
    return [
        TokenRow(
            token_id=row.token_id,
            token_name=row.token_name,
            actions=tuple(Action(text) for text in json.loads(row.actions)),
            on=tuple(filter(None, shown_namespaces(tx, _namespaces(row.namespaces)))),
            pii=row.pii,
            created_by=row.created_by,
            created_at=row.created_at,
            expires_at=row.expires_at,
            revoked_at=row.revoked_at,
            last_used_at=uses.get(row.token_id),
            has_secret=row.token_id in uses,
        )
        for row in tx.execute(query.order_by(table.token_name))
    ]


# Authentication.


def read_token(text: str) -> Presented | None:
    """None for a malformed token."""
    shape = _SHAPE.match(text)
    return None if shape is None else Presented(shape["org"], shape["id"], shape["secret"])


def principal_of(tx: Transaction, keys: IdentityKeys, token: Presented) -> Principal:
    """The principal of a token. An unknown id takes as long as a wrong secret."""
    row = _secret_row(tx, token.secret_id)
    stored = keys.keyed_hash("") if row is None else row.keyed_hash
    if not keys.is_hash_of(stored, token.secret) or row is None:
        raise BadToken()
    return token_principal(tx, token.secret_id)


def token_principal(tx: Transaction, secret_id: str) -> Principal:
    """The principal of a secret that was verified before, with its current grants."""
    row = _secret_row(tx, secret_id)
    if row is None or not is_active(tx, tx.org_id):
        raise BadToken()
    ends = [moment for moment in (row.expires_at, row.ends_at) if moment is not None]
    if ends and min(ends) <= tx.now():
        raise BadToken()
    actions = frozenset(Action(text) for text in json.loads(row.actions)) & GRANTABLE
    return Principal(
        org_id=tx.org_id,
        kind=PrincipalKind.TOKEN,
        id=row.token_id,
        name=f"token:{row.token_name}",
        grants=tuple(Grant(actions, each, row.pii) for each in _namespaces(row.namespaces)),
        until=min(ends, default=None),
        secret_id=secret_id,
    )


def note_use(tx: Transaction, secret_id: str) -> None:
    """Records the minute of the last use, at most once a minute."""
    table, at = service_token_secrets, tx.now()
    minute = at.replace(second=0, microsecond=0)
    stale = or_(table.c.last_used_at.is_(None), table.c.last_used_at <= minute - _USED_EVERY)
    tx.execute(
        update(table)
        .where(table.c.org_id == tx.org_id, table.c.secret_id == secret_id, stale)
        .values(last_used_at=minute)
    )


def _secret_row(tx: Transaction, secret_id: str) -> Any | None:
    """The secret and its token, unless the token was revoked."""
    table, held = service_token_secrets.c, service_tokens.c
    query = select(
        table.keyed_hash, table.ends_at, held.token_id, held.token_name, held.actions,
        held.namespaces, held.pii, held.expires_at,
    ).select_from(service_token_secrets)  # fmt: skip
    query = query.join(
        service_tokens, and_(held.org_id == table.org_id, held.token_id == table.token_id)
    )
    found = _with_revocations(query).where(
        table.org_id == tx.org_id,
        table.secret_id == secret_id,
        access_revocations.c.revoked_id.is_(None),
    )
    return tx.execute(found).first()


def _with_revocations(query: Select[Any]) -> Select[Any]:
    held, gone = service_tokens.c, access_revocations.c
    over = and_(gone.org_id == held.org_id, gone.revoked_id == held.token_id)
    return query.outerjoin(access_revocations, over)


def _check(
    tx: Transaction,
    name: str,
    actions: Sequence[Action],
    expires_at: datetime | None,
    at: datetime,
) -> None:
    problem = ""
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        problem = f"a name has 1 to {LONGEST_NAME} printable characters"
    elif not actions or not set(actions) <= GRANTABLE:
        problem = f"allow some of {', '.join(sorted(GRANTABLE))}"
    elif expires_at is not None and expires_at <= at:
        problem = "its expiry is in the past"
    elif tx.scalar(_named(tx, name)) is not None:
        problem = "the name is taken; rotate it, or choose another"
    if problem:
        raise ServiceTokenInvalid(token=name[:LONGEST_NAME], problem=problem)


def _with_secret(tx: Transaction, keys: IdentityKeys, token_id: str, at: datetime) -> ShownToken:
    secret, secret_id = secrets.token_urlsafe(32), new_id("key")
    row = {
        "secret_id": secret_id,
        "org_id": tx.org_id,
        "token_id": token_id,
        "keyed_hash": keys.keyed_hash(secret),
        "created_by": tx.actor,
        "created_at": at,
        "ends_at": None,
        "last_used_at": None,
    }
    insert_all(tx, service_token_secrets, [row])
    return ShownToken(token_id, f"{PREFIX}{tx.org_id}.{secret_id}.{secret}")


def _held(tx: Transaction, name: str) -> str:
    query = _with_revocations(_named(tx, name)).where(access_revocations.c.revoked_id.is_(None))
    token_id = tx.scalar(query)
    if token_id is None:
        raise UnknownServiceToken(token=name[:LONGEST_NAME])
    return str(token_id)


def _named(tx: Transaction, name: str) -> Select[Any]:
    table = service_tokens.c
    return select(table.token_id).where(table.org_id == tx.org_id, table.token_name == name)


def _namespaces(text: str) -> list[Namespace]:
    return [Namespace(NamespaceKind(kind), name) for kind, name in json.loads(text)]


def _uses(tx: Transaction) -> dict[str, datetime | None]:
    """The last use of each token that has a secret."""
    table = service_token_secrets.c
    rows = tx.execute(
        select(table.token_id, table.last_used_at)
        .where(table.org_id == tx.org_id)
        .order_by(table.last_used_at.is_not(None), table.last_used_at)
    )
    return {row.token_id: row.last_used_at for row in rows}
