"""Pieces of a file as a message may show them."""

from __future__ import annotations

from lakeguard_sdk.secret_values import looks_secret

_LOOKED_AT = 400
_SHOWN = 60
_MASK = "*" * 8


def shown(text: str) -> str:
    """On one line, not long, and hidden altogether where it looks like a secret."""
    if looks_secret(text[:_LOOKED_AT]):
        return _MASK
    line = "".join(c if c.isprintable() else " " for c in text[:_SHOWN])
    return line if len(text) <= _SHOWN else f"{line}…"


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
