"""The public keys of the issuer of user tokens."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from lakeguard.settings.settings import HERE, IdentitySettings
from lakeguard_sdk.errors import IssuerUnavailable
from lakeguard_sdk.expressions.json_values import NotJson, read_json
from lakeguard_sdk.security.outbound import outbound_client

DISCOVERY = "/.well-known/openid-configuration"
_LARGEST = 512 * 1024
_MOST_KEYS = 100
_STALE_SECONDS = 3_600
"""How long cached keys are used while the issuer is unavailable."""


@dataclass
class KeySet:
    """Thread-safe. Keys are fetched on first use, when the cache expires, and for an unknown key
    id, but never more often than the settings allow."""

    settings: IdentitySettings
    clock: Callable[[], float] = monotonic
    fetches: int = 0
    _keys: dict[str, dict[str, Any]] = field(default_factory=dict)
    _fetched_at: float | None = None
    _tried_at: float | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def find(self, key_id: str, algorithm: str) -> PyJWK | None:
        """The key of this id for this algorithm."""
        with self._turn:
            if self._is_old() or (key_id not in self._keys and self._may_fetch()):
                self._refresh()
            known = self._keys.get(key_id)
        return None if known is None else _key_of(known, algorithm)

    def _is_old(self) -> bool:
        if self._fetched_at is None:
            return True
        age = self.clock() - self._fetched_at
        return age > self.settings.key_set_seconds and self._may_fetch()

    def _may_fetch(self) -> bool:
        tried = self._tried_at
        return tried is None or self.clock() - tried >= self.settings.refetch_seconds

    def _refresh(self) -> None:
        now = self.clock()
        failed_before = self._fetched_at is None and not self._may_fetch()
        try:
            if failed_before:
                raise _unavailable(self.settings, "it did not answer a moment ago")
            self._tried_at = now
            self._keys, self._fetched_at = self._fetched(), now
        except IssuerUnavailable:
            if self._fetched_at is None or now - self._fetched_at > _STALE_SECONDS:
                self._keys, self._fetched_at = {}, None
                raise

    def _fetched(self) -> dict[str, dict[str, Any]]:
        settings, self.fetches = self.settings, self.fetches + 1
        with outbound_client(timeout=settings.timeout_seconds) as client:
            url = settings.key_set_url or self._discovered(client)
            listed = self._json(client, url).get("keys")
        if not isinstance(listed, list) or len(listed) > _MOST_KEYS:
            raise _unavailable(settings, "its key set has no list of keys")
        return {
            key["kid"]: key
            for key in listed
            if isinstance(key, dict) and isinstance(key.get("kid"), str)
        }

    def _discovered(self, client: httpx.Client) -> str:
        """The address of the key set; it must be at the issuer's own origin."""
        issuer = self.settings.issuer
        document = self._json(client, issuer.rstrip("/") + DISCOVERY)
        url = document.get("jwks_uri")
        if document.get("issuer") != issuer or not isinstance(url, str):
            raise _unavailable(self.settings, "its discovery document is another issuer's")
        if _origin(url) != _origin(issuer):
            reason = "its keys are at another address; write it as key_set_url"
            raise _unavailable(self.settings, reason)
        return url

    def _json(self, client: httpx.Client, url: str) -> dict[str, Any]:
        try:
            with client.stream("GET", url) as response:
                if response.status_code != httpx.codes.OK:
                    raise _unavailable(self.settings, f"HTTP status {response.status_code}")
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if len(body) > _LARGEST:
                        raise _unavailable(self.settings, "its answer is too large")
            document = read_json(body.decode())
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _unavailable(self.settings, type(error).__name__) from error
        except (NotJson, UnicodeDecodeError) as error:
            raise _unavailable(self.settings, "its answer is not JSON") from error
        if not isinstance(document, dict):
            raise _unavailable(self.settings, "its answer is not an object")
        return document


def _key_of(known: dict[str, Any], algorithm: str) -> PyJWK | None:
    """None if the key is symmetric, for another algorithm, or not for signatures."""
    if known.get("kty") == "oct" or known.get("use", "sig") != "sig":
        return None
    if known.get("alg", algorithm) != algorithm:
        return None
    try:
        return PyJWK(known, algorithm)
    except PyJWTError:
        return None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        return ("", None, None)
    usable = scheme == "https" or (scheme == "http" and host in HERE)
    return (scheme, host, port) if usable else ("", url, None)


def _unavailable(settings: IdentitySettings, reason: str) -> IssuerUnavailable:
    return IssuerUnavailable(issuer=settings.issuer, reason=reason)
