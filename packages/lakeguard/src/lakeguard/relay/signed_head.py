"""Exports of the audit chain's head, signed with the key of the environment."""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakeguard_sdk.errors import AuditHeadRefused, AuditKeyUnusable
from lakeguard_sdk.model.verification import AuditHead, SignedHead

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_OWNER_ONLY = 0o600


@dataclass(frozen=True)
class SigningKey:
    """An Ed25519 key in PEM: a secret of the settings, or a file created on first use."""

    file: Path
    secret: Callable[[], str] | None = None

    def sign(self, head: AuditHead) -> SignedHead:
        key = self._key(create=True)
        assert key is not None  # noqa: S101 - for the type checker
        signature = key.sign(_content(head))
        return SignedHead(head=head, key=_public(key), signature=_text(signature))

    def check(self, signed: SignedHead) -> None:
        """Raise ``AuditHeadRefused`` for an invalid signature, or one by another key than this."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            public = Ed25519PublicKey.from_public_bytes(base64.b64decode(signed.key))
            public.verify(base64.b64decode(signed.signature), _content(signed.head))
        except (InvalidSignature, ValueError):
            raise AuditHeadRefused(reason="its signature does not match its content") from None
        own = self._key(create=False)
        if own is not None and _public(own) != signed.key:
            raise AuditHeadRefused(reason=f"it was signed by another key, {signed.key}")

    def _key(self, *, create: bool) -> Ed25519PrivateKey | None:
        if self.secret is not None:
            return _parsed(self.secret().encode(), "the key of the settings")
        if not self.file.exists():
            if not create:
                return None
            _write_new(self.file)
        if self.file.stat().st_mode & 0o077:
            reason = f"{self.file} is readable by others; chmod 600 {self.file}"
            raise AuditKeyUnusable(reason=reason)
        return _parsed(self.file.read_bytes(), str(self.file))


def _write_new(file: Path) -> None:
    """Atomic; if another process creates the file first, that one stays."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    copy = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    with os.fdopen(handle, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(handle)
    try:
        os.link(copy, file)
    except FileExistsError:
        pass
    finally:
        copy.unlink()


def _parsed(content: bytes, place: str) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError):
        raise AuditKeyUnusable(reason=f"{place} is not a private key in PEM") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise AuditKeyUnusable(reason=f"{place} is not an Ed25519 key")
    return key


def _public(key: Ed25519PrivateKey) -> str:
    return _text(key.public_key().public_bytes_raw())


def _content(head: AuditHead) -> bytes:
    return head.to_json().encode()


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
