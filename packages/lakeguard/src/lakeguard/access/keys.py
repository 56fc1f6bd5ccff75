"""The identity key of an environment, and the keys derived from it.

It keys the hashes of service tokens and signs task tokens. It comes from a secret reference, or
from a file beside the State that is created on first use and readable by its owner only.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lakeguard.settings.settings import SecretReference
from lakeguard_sdk.errors import SettingsError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = "identity.key"
_BYTES = 32
_SHORTEST = 32
"""Characters of a given key: 256 random bits have 43 as base64, 64 as hexadecimal digits."""


@dataclass(frozen=True)
class IdentityKeys:
    """Without reference and file, the key is random and lives as long as this object."""

    reference: SecretReference | None = None
    file: Path | None = None
    _root: list[bytes] = field(default_factory=list, repr=False, compare=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def keyed_hash(self, secret: str) -> str:
        """The hash under which the secret of a service token is stored."""
        key = self._derived(b"service tokens")
        return hmac.new(key, secret.encode(), hashlib.sha256).hexdigest()

    def is_hash_of(self, keyed_hash: str, secret: str) -> bool:
        """Compares in constant time."""
        return hmac.compare_digest(self.keyed_hash(secret), keyed_hash)

    def signing_key(self) -> Ed25519PrivateKey:
        """The key that signs task tokens."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._derived(b"task tokens"))

    def _derived(self, purpose: bytes) -> bytes:
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        kdf = HKDF(SHA256(), _BYTES, salt=None, info=b"lakeguard identity: " + purpose)
        return kdf.derive(self._key())

    def _key(self) -> bytes:
        if self.reference is not None:
            return _given(self.reference)
        with self._turn:
            if not self._root:
                random = secrets.token_bytes(_BYTES)
                self._root.append(random if self.file is None else _stored(self.file))
            return self._root[0]


def _given(reference: SecretReference) -> bytes:
    text = reference.resolve()
    if len(text) < _SHORTEST:
        problem = f"{reference.key}: write at least {_SHORTEST} random characters"
        raise SettingsError(file=reference.settings_file, problem=problem)
    return text.encode()


def _stored(file: Path) -> bytes:
    """The content of the file, which is created if missing; safe under concurrency."""
    try:
        if not file.exists():
            _make(file)
        key = file.read_bytes()
    except OSError as error:
        problem = f"not usable: {error.strerror or error}"
        raise SettingsError(file=str(file), problem=problem) from error
    if len(key) != _BYTES:
        raise SettingsError(file=str(file), problem=f"it must hold {_BYTES} bytes")
    return key


def _make(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_bytes(_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(draft, file)
        except FileExistsError:
            return
    finally:
        draft.unlink()
