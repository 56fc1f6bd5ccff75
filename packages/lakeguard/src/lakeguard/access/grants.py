"""Status of users and organisations, and the roles that users were granted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, select

from lakeguard.access.authorise import grant_of
from lakeguard.access.principal import Grant, Namespace, NamespaceKind, Role
from lakeguard.access.users import find_user
from lakeguard.state import outbox
from lakeguard.state.locks import hold
from lakeguard.state.schema import (
    access_revocations,
    dataset_registry,
    identity_states,
    role_grants,
    users,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import NotRegistered, UnknownGrant

USER = "user"
ORGANISATION_ITSELF = "organisation"


class UserRow(FrozenModel):
    user_id: str
    user_name: str
    origin: str
    """``operator`` of a folder, or ``member`` of the organisation."""
    active: bool
    created_at: Instant


class GrantRow(FrozenModel):
    grant_id: str
    user_name: str
    role: Role
    on: str
    """As ``role grant --on`` takes it; empty for everything."""
    granted_by: str
    granted_at: Instant
    reason: str
    revoked_at: Instant | None = None
    revoked_by: str | None = None


class Standing(NamedTuple):
    """Whether a user is active, and the grants of the user."""

    active: bool
    grants: tuple[Grant, ...]


# Status.


def set_active(tx: Transaction, kind: str, subject_id: str, reason: str, *, active: bool) -> bool:
    """Returns whether the status changed."""
    hold(tx, f"identity:{tx.org_id}")
    if is_active(tx, subject_id) == active:
        return False
    record_change(tx, kind, subject_id, reason, active=active)
    return True


def record_change(
    tx: Transaction, kind: str, subject_id: str, reason: str = "", *, active: bool = True
) -> None:
    """Who changed it, also where it is as active as before: created, or with a new secret."""
    hold(tx, f"identity:{tx.org_id}")
    at = tx.now()
    row = {
        "change_id": new_id("ist"),
        "org_id": tx.org_id,
        "subject_kind": kind,
        "subject_id": subject_id,
        "number": _last_change(tx, subject_id).number + 1,
        "active": active,
        "reason": reason,
        "changed_by": tx.actor,
        "changed_at": at,
    }
    outbox.record(tx, identity_states, [row], at)


def is_active(tx: Transaction, subject_id: str) -> bool:
    return _last_change(tx, subject_id).active


class _Change(NamedTuple):
    """A change of status. Changes are ordered by number, because clocks may be wrong."""

    number: int = 0
    active: bool = True


def _last_change(tx: Transaction, subject_id: str) -> _Change:
    table = identity_states.c
    last = (
        select(table.number, table.active)
        .where(table.org_id == tx.org_id, table.subject_id == subject_id)
        .order_by(table.number.desc())
        .limit(1)
    )
    row = tx.execute(last).first()
    return _Change() if row is None else _Change(*row)


def user_rows(tx: Transaction) -> list[UserRow]:
    """By name."""
    table = users.c
    found = tx.execute(select(users).where(table.org_id == tx.org_id).order_by(table.user_name))
    off = _disabled(tx)
    return [
        UserRow(
            user_id=row.user_id,
            user_name=row.user_name,
            origin=row.role,
            active=row.user_id not in off,
            created_at=row.created_at,
        )
        for row in found
    ]


def _disabled(tx: Transaction) -> set[str]:
    table = identity_states.c
    rows = tx.execute(
        select(table.subject_id, table.active)
        .where(table.org_id == tx.org_id, table.subject_kind == USER)
        .order_by(table.number)
    )
    return {subject for subject, active in {row[0]: row[1] for row in rows}.items() if not active}


# Grants.


def grant_role(tx: Transaction, user_id: str, role: Role, on: Namespace, reason: str) -> str:
    """The id of the grant; of the existing one, if the same is active already."""
    hold(tx, f"identity:{tx.org_id}")
    stored = stored_namespace(tx, on)
    table = role_grants.c
    same = _holding().where(
        table.org_id == tx.org_id,
        table.user_id == user_id,
        table.role == role.value,
        table.namespace_kind == stored.kind.value,
        table.namespace == stored.name,
    )
    known = tx.execute(same).first()
    if known is not None:
        return str(known.grant_id)
    at = tx.now()
    row = {
        "grant_id": new_id("grt"),
        "org_id": tx.org_id,
        "user_id": user_id,
        "role": role.value,
        "namespace_kind": stored.kind.value,
        "namespace": stored.name,
        "reason": reason,
        "granted_by": tx.actor,
        "granted_at": at,
    }
    outbox.record(tx, role_grants, [row], at)
    return str(row["grant_id"])


def revoke_grant(tx: Transaction, grant_id: str, reason: str) -> None:
    table = role_grants.c
    hold(tx, f"identity:{tx.org_id}")
    found = _holding().where(table.org_id == tx.org_id, table.grant_id == grant_id)
    if tx.execute(found).first() is None:
        raise UnknownGrant(grant=grant_id)
    record_revocation(tx, grant_id, "grant", reason)


def record_revocation(tx: Transaction, revoked_id: str, kind: str, reason: str) -> None:
    at = tx.now()
    row = {
        "org_id": tx.org_id,
        "revoked_id": revoked_id,
        "kind": kind,
        "reason": reason,
        "revoked_by": tx.actor,
        "revoked_at": at,
    }
    outbox.record(tx, access_revocations, [row], at)


def standing_of(tx: Transaction, user_id: str) -> Standing:
    """Whether the user is active, in an active organisation, and the active grants."""
    table = role_grants.c
    rows = tx.execute(_holding().where(table.org_id == tx.org_id, table.user_id == user_id))
    grants = tuple(
        grant_of(Role(row.role), Namespace(NamespaceKind(row.namespace_kind), row.namespace))
        for row in rows
    )
    return Standing(is_active(tx, tx.org_id) and is_active(tx, user_id), grants)


def grant_rows(tx: Transaction, user_name: str | None, *, every: bool) -> list[GrantRow]:
    """Oldest first; with ``every``, also revoked ones."""
    table, gone = role_grants.c, access_revocations.c
    query = (
        select(role_grants, users.c.user_name, gone.revoked_at, gone.revoked_by)
        .join(users, and_(users.c.org_id == table.org_id, users.c.user_id == table.user_id))
        .outerjoin(
            access_revocations,
            and_(gone.org_id == table.org_id, gone.revoked_id == table.grant_id),
        )
        .where(table.org_id == tx.org_id)
        .order_by(table.granted_at, table.grant_id)
    )
    if user_name is not None:
        query = query.where(table.user_id == find_user(tx, user_name))
    if not every:
        query = query.where(gone.revoked_id.is_(None))
    names = _dataset_names(tx)
    return [_grant_row(row, names) for row in tx.execute(query)]


def _grant_row(row: Any, names: dict[str, str]) -> GrantRow:
    on = Namespace(NamespaceKind(row.namespace_kind), row.namespace)
    return GrantRow(
        grant_id=row.grant_id,
        user_name=row.user_name,
        role=Role(row.role),
        on=shown_namespace(on, names),
        granted_by=row.granted_by,
        granted_at=row.granted_at,
        reason=row.reason,
        revoked_at=row.revoked_at,
        revoked_by=row.revoked_by,
    )


def _holding() -> Select[Any]:
    table, gone = role_grants.c, access_revocations.c
    over = and_(gone.org_id == table.org_id, gone.revoked_id == table.grant_id)
    return select(role_grants).outerjoin(access_revocations, over).where(gone.revoked_id.is_(None))


# Namespaces in the State identify a dataset by id.


def stored_namespace(tx: Transaction, on: Namespace) -> Namespace:
    """Raises ``NotRegistered`` for an unknown dataset."""
    if on.kind is not NamespaceKind.DATASET:
        return on
    table = dataset_registry.c
    found = tx.scalar(
        select(table.dataset_id).where(table.org_id == tx.org_id, table.dataset_name == on.name)
    )
    if found is None:
        raise NotRegistered(dataset=DatasetName(on.name))
    return Namespace(on.kind, str(found))


def shown_namespace(on: Namespace, names: dict[str, str]) -> str:
    match on.kind:
        case NamespaceKind.ORGANISATION:
            return ""
        case NamespaceKind.DOMAIN:
            return f"domain:{on.name}"
        case NamespaceKind.LAYER:
            return on.name
        case NamespaceKind.DATASET:
            return names.get(on.name, on.name)
        case NamespaceKind.RECORDS:
            return f"records:{on.name}"


def shown_namespaces(tx: Transaction, found: Sequence[Namespace]) -> list[str]:
    names = _dataset_names(tx)
    return [shown_namespace(each, names) for each in found]


def _dataset_names(tx: Transaction) -> dict[str, str]:
    table = dataset_registry.c
    rows = tx.execute(select(table.dataset_id, table.dataset_name).where(table.org_id == tx.org_id))
    return {row.dataset_id: row.dataset_name for row in rows}
