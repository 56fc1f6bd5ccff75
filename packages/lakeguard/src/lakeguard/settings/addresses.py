"""Addresses of webhooks: what one must be. What it says is never shown, for it may be secret."""

from __future__ import annotations

from urllib.parse import urlsplit

HERE = ("127.0.0.1", "localhost", "::1")
_FORM = "write https://HOST/PATH"


def problem_of_address(text: str, *, allow_http: bool) -> str:
    """Why nothing is sent there; empty where it is an address."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return _FORM
    if parts.scheme not in ("http", "https") or not parts.hostname or not text.isascii():
        return _FORM
    if parts.fragment or not text.isprintable() or " " in text:
        return _FORM
    if parts.username is not None or parts.password:
        return "it looks like it holds a secret before the @; nothing is sent with one"
    if parts.scheme == "http" and parts.hostname not in HERE and not allow_http:
        return "write https://, or say allow_http = true"
    return ""
