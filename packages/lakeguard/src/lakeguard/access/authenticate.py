"""The text of an ``Authorization`` header, and whose it is.

A refusal is always the same ``BadToken``: it does not tell which part failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from lakeguard.access.grants import standing_of
from lakeguard.access.key_set import KeySet
from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import Principal, PrincipalKind
from lakeguard.access.service_tokens import PREFIX as SERVICE
from lakeguard.access.service_tokens import note_use, principal_of, read_token
from lakeguard.access.task_tokens import TaskTokens
from lakeguard.access.trusted_tokens import StandingTasks, TrustedTokens
from lakeguard.access.user_tokens import Claims, UserTokens
from lakeguard.access.users import MEMBER, find_user, known_user
from lakeguard.settings.settings import IdentitySettings
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import BadToken, StateError, UnknownUser
from lakeguard_sdk.scheduling.task_token import PREFIX as TASK

_log = logging.getLogger(__name__)
_BEARER = "bearer"
_LONGEST = 70_000
_MOST_NOTED = 10_000


@dataclass
class Authenticator:
    """Thread-safe. Serves the organisation of one environment."""

    settings: IdentitySettings
    organisation: str
    keys: IdentityKeys
    state: OrganisationState
    key_set: KeySet | None = None
    ticks: Callable[[], float] = monotonic
    """Seconds, by which a service token is trusted for a while."""
    _users: UserTokens | None = field(default=None, init=False)
    _noted: dict[str, datetime] = field(default_factory=dict, init=False)
    _trusted: TrustedTokens = field(init=False)

    def __post_init__(self) -> None:
        self._trusted = TrustedTokens(self.state, self.ticks)
        if self.settings.issuer:
            keys = self.key_set or KeySet(self.settings)
            self._users = UserTokens(self.settings, self.organisation, keys, _refused)

    def authenticate(self, header: str) -> Principal:
        """Whoever the header names; ``BadToken`` for anybody else."""
        kind, _, text = header.strip().partition(" ")
        text = text.strip()
        if kind.lower() != _BEARER or not text or len(header) > _LONGEST:
            _refused("no bearer token, or a longer one than there is")
            raise BadToken()
        if text.startswith(SERVICE):
            return self._trusted.principal(text, lambda: self._service(text))
        if text.startswith(TASK):
            return self._trusted.principal(text, lambda: self._task(text))
        return self._user(text)

    def _task(self, text: str) -> Principal:
        try:
            principal = TaskTokens(self.keys, self.organisation).read(text, self.state.clock())
            if principal.task is not None:
                StandingTasks(self.state).require(principal.task)
        except BadToken:
            _refused("task token that is wrong or over, or whose worker may no longer work")
            raise
        return principal

    def _service(self, text: str) -> Principal:
        token = read_token(text)
        if token is None or token.org_id != self.organisation:
            _refused("service token of another shape or organisation")
            raise BadToken()
        with self.state.read() as tx:
            try:
                principal = principal_of(tx, self.keys, token)
            except BadToken:
                _refused("service token that is unknown, over or revoked")
                raise
        self._note_use(token.secret_id)
        return principal

    def _note_use(self, secret_id: str) -> None:
        """Once a minute; a State that cannot be written to refuses no reader."""
        minute = self.state.clock().replace(second=0, microsecond=0)
        if self._noted.get(secret_id) == minute:
            return
        if len(self._noted) >= _MOST_NOTED:
            self._noted.clear()
        self._noted[secret_id] = minute
        try:
            self.state.transact(lambda tx: note_use(tx, secret_id))
        except StateError:
            _log.warning("the last use of a service token could not be recorded")

    def _user(self, text: str) -> Principal:
        if self._users is None:
            _refused("no issuer is configured")
            raise BadToken()
        claims = self._users.verify(text, self.state.clock())
        try:
            with self.state.read() as tx:
                return signed_in(tx, claims, find_user(tx, claims.user_name))
        except UnknownUser:
            self.state.transact(lambda tx: known_user(tx, claims.user_name, MEMBER))
        with self.state.read() as tx:
            return signed_in(tx, claims, find_user(tx, claims.user_name))


def signed_in(tx: Transaction, claims: Claims, user_id: str) -> Principal:
    """The user, whom the first sign-in created without a role; refused while disabled."""
    standing = standing_of(tx, user_id)
    if not standing.active:
        _refused("the user was revoked")
        raise BadToken()
    return Principal(
        org_id=tx.org_id,
        kind=PrincipalKind.USER,
        id=user_id,
        name=claims.user_name,
        grants=(*standing.grants, *claims.grants),
        until=claims.until,
        claimed=claims.grants,
    )


def _refused(reason: str) -> None:
    _log.warning("not authenticated: %s", reason)
