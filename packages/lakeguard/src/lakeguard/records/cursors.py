"""Opaque page tokens and cursors: where to go on, and in what."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from lakeguard_sdk.core.canonical_json import data_hash
from lakeguard_sdk.errors import UnknownCursor
from lakeguard_sdk.records.query import MetadataQuery

_LONGEST = 1_000


def written(of: str, *place: str | int) -> str:
    """``of`` says in what the place is: a query, or a log."""
    text = json.dumps([of, *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_in(of: str, token: str, *kinds: type) -> list[Any]:
    """What ``written`` got; ``UnknownCursor`` if it got another ``of``, or never wrote this."""
    try:
        if len(token) > _LONGEST:
            raise ValueError
        padded = token + "=" * (-len(token) % 4)
        place: list[Any]
        found, *place = json.loads(base64.b64decode(padded, b"-_", validate=True))
        if found != of or [type(each) for each in place] != list(kinds):
            raise ValueError
        if written(of, *place) != token:
            raise ValueError
    except (binascii.Error, TypeError, ValueError, RecursionError):
        raise UnknownCursor(cursor=token[:100]) from None
    return place


def question(query: MetadataQuery) -> str:
    """What pages of one query have in common, whatever their size."""
    data = query.to_data()
    for name in ("page_size", "page_token"):
        del data[name]
    return data_hash(data)
