"""The principal of an ``Authorization`` header.

A refusal is always the same ``BadToken``: it does not tell which part failed.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from lakeguard.access.authorise import is_over
from lakeguard.access.grants import standing_of
from lakeguard.access.key_set import KeySet
from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import Principal, PrincipalKind
from lakeguard.access.service_tokens import PREFIX as SERVICE
from lakeguard.access.service_tokens import note_use, principal_of, read_token
from lakeguard.access.session import FRESH_SECONDS, require_admitted
from lakeguard.access.task_tokens import TaskTokens
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
_MOST_CACHED = 10_000


@dataclass
class Authenticator:
    """Thread-safe. Serves the organisation of one environment."""

    settings: IdentitySettings
    organisation: str
    keys: IdentityKeys
    state: OrganisationState
    key_set: KeySet | None = None
    ticks: Callable[[], float] = monotonic
    """Seconds, for the cache of principals."""
    _users: UserTokens | None = field(default=None, init=False)
    _noted: dict[str, datetime] = field(default_factory=dict, init=False)
    _cache: _PrincipalCache = field(init=False)

    def __post_init__(self) -> None:
        self._cache = _PrincipalCache(self.state, self.ticks)
        if self.settings.issuer:
            keys = self.key_set or KeySet(self.settings)
            self._users = UserTokens(self.settings, self.organisation, keys, _refused)

    def authenticate(self, header: str) -> Principal:
        """The principal that the header names; raises ``BadToken``."""
        kind, _, text = header.strip().partition(" ")
        text = text.strip()
        if kind.lower() != _BEARER or not text or len(header) > _LONGEST:
            _refused("no bearer token, or one that is too long")
            raise BadToken()
        if text.startswith(SERVICE):
            return self._cache.find(text, lambda: self._service(text))
        if text.startswith(TASK):
            return self._cache.find(text, lambda: self._task(text))
        return self._user(text)

    def _task(self, text: str) -> Principal:
        try:
            principal = TaskTokens(self.keys, self.organisation).read(text, self.state.clock())
            if principal.task is not None:
                require_admitted(self.state, principal.task)
        except BadToken:
            _refused("task token that is invalid or expired, or whose worker lost its permission")
            raise
        return principal

    def _service(self, text: str) -> Principal:
        token = read_token(text)
        if token is None or token.org_id != self.organisation:
            _refused("malformed service token, or one of another organisation")
            raise BadToken()
        with self.state.read() as tx:
            try:
                principal = principal_of(tx, self.keys, token)
            except BadToken:
                _refused("service token that is unknown, expired or revoked")
                raise
        self._note_use(token.secret_id)
        return principal

    def _note_use(self, secret_id: str) -> None:
        """At most once a minute; not being able to record it refuses nobody."""
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


@dataclass
class _PrincipalCache:
    """Trusts what a token stands for during ``FRESH_SECONDS``. Thread-safe; holds only hashes."""

    state: OrganisationState
    clock: Callable[[], float] = monotonic
    _known: dict[bytes, tuple[Principal, float]] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def find(self, token: str, read: Callable[[], Principal]) -> Principal:
        """The cached principal, or the one that ``read`` returns; refusals are not cached."""
        key = hashlib.sha256(token.encode()).digest()
        now = self.clock()
        known = self._known.get(key)
        is_recent = known is not None and now - known[1] < FRESH_SECONDS
        if known is not None and is_recent and not is_over(known[0], self.state.clock()):
            return known[0]
        found = read()
        with self._turn:
            if len(self._known) >= _MOST_CACHED:
                self._known.clear()
            self._known[key] = (found, now)
        return found


def _refused(reason: str) -> None:
    _log.warning("not authenticated: %s", reason)
