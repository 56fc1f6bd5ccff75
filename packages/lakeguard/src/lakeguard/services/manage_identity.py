"""Management of organisations, users, roles and service tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import select

from lakeguard.access import grants, service_tokens
from lakeguard.access.access_log import Access, record_access
from lakeguard.access.authorise import may
from lakeguard.access.grants import GrantRow, UserRow
from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import (
    Action,
    Principal,
    Role,
    check_organisation,
    parse_namespace,
)
from lakeguard.access.service_tokens import ShownToken, TokenRow
from lakeguard.access.users import (
    MEMBER,
    check_user_name,
    find_user,
    known_user,
)
from lakeguard.state import outbox
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import organizations
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.errors import (
    NotPermitted,
    SecretInReason,
    UnknownOrganisation,
    UnknownUser,
)
from lakeguard_sdk.security.secret_values import holds_secret

OVERLAP = timedelta(hours=24)
"""How long earlier secrets stay valid by default after a rotation."""


class OrganisationRow(FrozenModel):
    organisation: str
    active: bool
    created_at: Instant


@dataclass(frozen=True)
class ManageIdentity:
    """For one organisation. Without a principal, the caller is the local user of a folder."""

    state: OrganisationState
    keys: IdentityKeys
    principal: Principal | None = None

    # Organisations.

    def organisations(self) -> list[OrganisationRow]:
        """All of the database; a principal sees its own."""
        self._check("organisations")
        with self.state.read() as tx:
            query = select(organizations).order_by(organizations.c.org_id)
            if self.principal is not None:
                query = query.where(organizations.c.org_id == tx.org_id)
            found = tx.execute(query).all()
        return [self._organisation(row.org_id, row.created_at) for row in found]

    def create_organisation(self, name: str) -> OrganisationRow:
        """Idempotent; only for the local user."""
        self._require_local("create_organisation")
        own = self._of(check_organisation(name))

        def create(tx: Transaction) -> None:
            at = tx.now()
            row = {"org_id": tx.org_id, "org_name": tx.org_id, "created_at": at}
            if outbox.record_once(tx, organizations, row, at):
                grants.record_change(tx, grants.ORGANISATION_ITSELF, name)

        own.transact(create)
        return self._known(name)

    def set_organisation(self, name: str, reason: str, *, active: bool) -> OrganisationRow:
        """Nobody may use a disabled organisation. Only for the local user."""
        self._require_local("set_organisation")
        self._known(name)
        kind = grants.ORGANISATION_ITSELF
        own, why = self._of(name), _checked(reason)
        own.transact(lambda tx: grants.set_active(tx, kind, name, why, active=active))
        return self._known(name)

    # Users.

    def users(self) -> list[UserRow]:
        self._check("users")
        with self.state.read() as tx:
            return grants.user_rows(tx)

    def create_user(self, name: str) -> UserRow:
        """Idempotent. A user without a role may do nothing."""
        self._check("create_user")
        checked = check_user_name(name)
        self.state.transact(lambda tx: _create_user(tx, checked))
        return self._user(checked)

    def set_user(self, name: str, reason: str, *, active: bool) -> UserRow:
        """A disabled user is refused within a minute, whatever was granted."""
        self._check("set_user")
        why = _checked(reason)

        def change(tx: Transaction) -> None:
            grants.set_active(tx, grants.USER, find_user(tx, name), why, active=active)

        self.state.transact(change)
        return self._user(name)

    # Roles.

    def grants(self, user: str | None = None, *, every: bool = False) -> list[GrantRow]:
        self._check("grants")
        with self.state.read() as tx:
            return grants.grant_rows(tx, user, every=every)

    def grant(self, user: str, role: Role, on: str = "", reason: str = "") -> GrantRow:
        """Idempotent: repeating an active grant returns that one."""
        self._check("grant")
        namespace, why = parse_namespace(on), _checked(reason)

        def grant(tx: Transaction) -> str:
            return grants.grant_role(tx, find_user(tx, user), role, namespace, why)

        return self._granted(self.state.transact(grant))

    def revoke_grant(self, grant_id: str, reason: str) -> GrantRow:
        self._check("revoke_grant")
        why = _checked(reason)
        self.state.transact(lambda tx: grants.revoke_grant(tx, grant_id, why))
        return self._granted(grant_id)

    # Service tokens.

    def tokens(self, *, every: bool = False) -> list[TokenRow]:
        self._check("tokens")
        with self.state.read() as tx:
            return service_tokens.token_rows(tx, every=every)

    def create_token(
        self,
        name: str,
        actions: Sequence[Action],
        on: Sequence[str] = (),
        *,
        pii: bool = False,
        expires_at: datetime | None = None,
    ) -> ShownToken:
        """The text of the token is returned only once."""
        self._check("create_token")
        namespaces = [parse_namespace(each) for each in on]

        def create(tx: Transaction) -> ShownToken:
            return service_tokens.create_token(
                tx, self.keys, name, actions, namespaces, pii=pii, expires_at=expires_at
            )

        return self.state.transact(create)

    def rotate_token(self, name: str, overlap: timedelta = OVERLAP) -> ShownToken:
        self._check("rotate_token")
        return self.state.transact(
            lambda tx: service_tokens.rotate_token(tx, self.keys, name, overlap)
        )

    def revoke_token(self, name: str, reason: str) -> TokenRow:
        self._check("revoke_token")
        why = _checked(reason)
        token_id = self.state.transact(lambda tx: service_tokens.revoke_token(tx, name, why))
        return next(row for row in self.tokens(every=True) if row.token_id == token_id)

    def _check(self, method: str) -> None:
        """Requires an admin. Every call of a principal is logged."""
        if self.principal is None:
            return
        verdict = may(self.principal, Action.ADMINISTER)
        access = Access(f"identity.{method}", Action.ADMINISTER)
        record_access(self.state, self.principal, access, verdict.reason)
        if not verdict.allowed:
            holder = self.principal.label
            raise NotPermitted(holder=holder, method=f"identity.{method}: {verdict.reason}")

    def _require_local(self, method: str) -> None:
        if self.principal is not None:
            access = Access(f"identity.{method}", Action.ADMINISTER)
            record_access(self.state, self.principal, access, "only the local user may")
            raise NotPermitted(holder=self.principal.label, method=f"identity.{method}")

    def _of(self, organisation: str) -> OrganisationState:
        return replace(self.state, org_id=organisation)

    def _known(self, name: str) -> OrganisationRow:
        table = organizations.c
        with self._of(name).read() as tx:
            found = tx.execute(select(organizations).where(table.org_id == tx.org_id)).first()
        if found is None:
            raise UnknownOrganisation(organisation=name)
        return self._organisation(found.org_id, found.created_at)

    def _organisation(self, name: str, created_at: datetime) -> OrganisationRow:
        with self._of(name).read() as tx:
            active = grants.is_active(tx, name)
        return OrganisationRow(organisation=name, active=active, created_at=created_at)

    def _user(self, name: str) -> UserRow:
        with self.state.read() as tx:
            user_id = find_user(tx, name)
            return next(row for row in grants.user_rows(tx) if row.user_id == user_id)

    def _granted(self, grant_id: str) -> GrantRow:
        with self.state.read() as tx:
            rows = grants.grant_rows(tx, None, every=True)
        return next(row for row in rows if row.grant_id == grant_id)


def _create_user(tx: Transaction, name: str) -> None:
    """Whoever signs in is created by nobody."""
    try:
        find_user(tx, name)
    except UnknownUser:
        grants.record_change(tx, grants.USER, known_user(tx, name, MEMBER))


def _checked(reason: str) -> str:
    if holds_secret(reason):
        raise SecretInReason()
    return reason
