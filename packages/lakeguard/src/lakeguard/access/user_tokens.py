"""User tokens: JSON Web Tokens of an OpenID Connect issuer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import jwt
from jwt.exceptions import PyJWTError

from lakeguard.access.authorise import grant_of
from lakeguard.access.key_set import KeySet
from lakeguard.access.principal import Grant, Role, parse_namespace
from lakeguard.access.users import check_user_name
from lakeguard.settings.settings import IdentitySettings
from lakeguard_sdk.errors import BadNamespace, BadToken, BadUserName

LONGEST = 16 * 1024
_LONGEST_ID = 500
_TYPES = (None, "jwt", "at+jwt", "application/at+jwt")
_ELSEWHERE = frozenset({"jku", "jwk", "x5u", "x5c", "crit", "b64", "zip"})
"""Headers that name another key or another way of verification; tokens with one are refused."""
_EMAIL = "email"
"""A claim that users of many issuers can change, so it must be verified."""
_VERIFIED = (True, "true")
"""Some issuers write the boolean as text."""
_REQUIRED = ("exp", "iat", "iss", "aud", "sub")


class Claims(NamedTuple):
    """Claims of a verified token."""

    user_name: str
    grants: tuple[Grant, ...]
    until: datetime


class _Wrong(Exception):
    """Why a token is refused, for the log only."""


@dataclass(frozen=True)
class UserTokens:
    """Verifies tokens of one issuer for one organisation."""

    settings: IdentitySettings
    organisation: str
    keys: KeySet
    refused: Callable[[str], None]
    """Called with the reason, which never contains a value of the token."""

    def verify(self, text: str, now: datetime) -> Claims:
        """Raises ``BadToken``, which does not tell the reason."""
        try:
            return self._claims(self._verified(text), now)
        except (PyJWTError, _Wrong, BadUserName, BadNamespace) as error:
            reason = str(error) if isinstance(error, _Wrong) else type(error).__name__
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            reason = type(error).__name__
        self.refused(reason)
        raise BadToken()

    def _verified(self, text: str) -> Mapping[str, Any]:
        if len(text) > LONGEST or not text.isascii():
            raise _Wrong("too long or not ASCII")
        header = jwt.get_unverified_header(text)
        algorithm, key_id, kind = header.get("alg"), header.get("kid"), header.get("typ")
        if algorithm not in self.settings.algorithms:
            raise _Wrong("algorithm")
        if not _ELSEWHERE.isdisjoint(header):
            raise _Wrong("header")
        if (kind.lower() if isinstance(kind, str) else kind) not in _TYPES:
            raise _Wrong("type")
        if not isinstance(key_id, str) or len(key_id) > _LONGEST_ID:
            raise _Wrong("key id")
        key = self.keys.find(key_id, algorithm)
        if key is None:
            raise _Wrong("unknown key")
        required = [*_REQUIRED, *(["jti"] if self.settings.require_id else [])]
        return jwt.decode(
            text,
            key.key,
            algorithms=[algorithm],
            audience=self.settings.audience,
            issuer=self.settings.issuer,
            leeway=self.settings.leeway_seconds,
            options={"require": required},
        )

    def _claims(self, claims: Mapping[str, Any], now: datetime) -> Claims:
        settings = self.settings
        named = settings.organisation_claim
        if named and claims.get(named) != self.organisation:
            raise _Wrong("organisation")
        user = claims.get(settings.user_claim)
        if not isinstance(user, str):
            raise _Wrong("user claim")
        if settings.user_claim == _EMAIL and claims.get("email_verified") not in _VERIFIED:
            raise _Wrong("e-mail address that the issuer has not verified")
        until = datetime.fromtimestamp(float(claims["exp"]), UTC)
        until += timedelta(seconds=settings.leeway_seconds)
        if until <= now:
            raise _Wrong("expired by the clock of the State")
        return Claims(check_user_name(user), tuple(self._grants(claims)), until)

    def _grants(self, claims: Mapping[str, Any]) -> list[Grant]:
        given = claims.get(self.settings.roles_claim) if self.settings.roles_claim else None
        groups = given if isinstance(given, list) else [given]
        found = []
        for group in groups:
            for text in self.settings.roles.get(group, ()) if isinstance(group, str) else ():
                role, _, on = text.partition(" ")
                found.append(grant_of(Role(role), parse_namespace(on.strip())))
        return found
