"""Secret references, resolved only where they are used.

``env:NAME`` is an environment variable, ``file:PATH`` the content of a file without trailing line
ends. Values exist in memory only, and every text that may contain one goes through ``without``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

from lakeguard_sdk.errors import SecretMissing

MASK = "***"
_LONGEST_FILE = 1 << 20
_AT_ONCE = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""Opening a FIFO without a writer must not block."""


def resolve(reference: str) -> str:
    """The secret's value; raises ``SecretMissing``, which never contains a value."""
    scheme, _, rest = reference.partition(":")
    if scheme == "env" and rest:
        return _variable(reference, rest)
    if scheme == "file" and rest:
        return _content(reference, rest)
    # The text may be a literal secret, so it is not repeated.
    raise SecretMissing(reference=MASK, reason="write env:NAME or file:PATH")


def resolve_all(references: Mapping[str, str]) -> dict[str, str]:
    return {name: resolve(reference) for name, reference in references.items()}


def without(text: str, values: Iterable[str]) -> str:
    """The text with every secret masked, including URL-encoded forms."""
    spellings = {
        spelled
        for value in values
        for spelled in (value, quote(value, safe=""), quote(value), quote_plus(value))
        if spelled
    }
    for spelled in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelled, MASK)
    return text


def _variable(reference: str, name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise SecretMissing(reference=reference, reason="the variable is not set")
    return _given(reference, value)


def _content(reference: str, place: str) -> str:
    try:
        text = _plain_text(reference, place)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SecretMissing(reference=reference, reason=reason) from None
    except UnicodeDecodeError:
        raise SecretMissing(reference=reference, reason="the file is not text") from None
    return _given(reference, text.rstrip("\r\n"))


def _plain_text(reference: str, place: str) -> str:
    opened = os.open(place, _AT_ONCE)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise SecretMissing(reference=reference, reason="it is not a regular file")
    with os.fdopen(opened, encoding="utf-8") as file:
        return file.read(_LONGEST_FILE)


def _given(reference: str, value: str) -> str:
    if not value.strip():
        raise SecretMissing(reference=reference, reason="it is empty")
    return value
