"""Notes: what a build itself has to say of the version that it brings forth."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lakeguard_sdk.canonical import canonical_json
from lakeguard_sdk.errors import NoteRefused
from lakeguard_sdk.secret_values import holds_secret, is_reference, is_sensitive_key

LARGEST = 64 * 1024
"""Bytes of all notes of one run, in canonical JSON."""


def checked_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes as they will be kept and shown: plain JSON, of bounded size, without secrets."""
    if not isinstance(notes, Mapping):
        raise NoteRefused(reason=f"it is a {type(notes).__name__} and not a mapping")
    try:
        text = canonical_json(notes)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise NoteRefused(reason=str(error)) from None
    except RecursionError:
        raise NoteRefused(reason="it is nested too deeply") from None
    if size > LARGEST:
        raise NoteRefused(reason=f"all notes together have {size:,} bytes, of {LARGEST:,}")
    plain: dict[str, Any] = json.loads(text)
    for key, value in _texts("", plain):
        if holds_secret(value) or (is_sensitive_key(key) and not is_reference(value)):
            raise NoteRefused(reason=f"what stands under {key!r} looks like a secret")
    return plain


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text, with the key that it stands under; keys themselves are texts too."""
    if isinstance(value, dict):
        for inner, item in value.items():
            yield "", inner
            yield from _texts(inner, item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(key, item)
    elif isinstance(value, str):
        yield key, value
