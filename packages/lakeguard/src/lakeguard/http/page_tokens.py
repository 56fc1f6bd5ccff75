"""Opaque page tokens: an offset in a list, and a hash of the item before it.

A list may grow at its front while it is read. The next page continues after the same item; if that
is gone, the token has expired.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from lakeguard.http.responses import Declined
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.errors import PageExpired

T = TypeVar("T")
_UNPROCESSABLE = HTTPStatus.UNPROCESSABLE_ENTITY

DEFAULT_SIZE = 100
LARGEST_SIZE = 1_000
_LONGEST_TOKEN = 200
_GROWTH = 100
"""How many items a list may gain between two pages of it."""


@dataclass(frozen=True)
class Place:
    """After ``offset`` items, of which the last has this mark."""

    offset: int = 0
    mark: str = ""

    def token(self) -> str:
        text = json.dumps([self.offset, self.mark], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(token: str) -> Place:
    """Refuses tokens that ``Place.token`` did not write."""
    try:
        if len(token) > _LONGEST_TOKEN:
            raise ValueError
        padded = token + "=" * (-len(token) % 4)
        offset, mark = json.loads(base64.b64decode(padded, b"-_", validate=True))
        place = Place(offset, mark)
        if not (type(offset) is int and offset > 0 and isinstance(mark, str)):
            raise ValueError
        if place.token() != token:
            raise ValueError
    except (binascii.Error, TypeError, ValueError):
        raise Declined(_UNPROCESSABLE, "page_token is invalid") from None
    return place


@dataclass(frozen=True)
class Page:
    items: Sequence[Any]
    next_token: str | None


def page_of(
    read: Callable[[int], Sequence[T]], size: int, token: str, shown: Callable[[T], Any]
) -> Page:
    """``read`` returns at least that many of the first items, or all there are."""
    place = place_of(token) if token else Place()
    spare = _GROWTH if token else 0
    items = read(place.offset + size + spare + 1)
    start = _found(items, place, shown) if token else 0
    chosen = items[start : start + size]
    end = start + len(chosen)
    if end >= len(items) or not chosen:
        return Page(chosen, None)
    return Page(chosen, Place(end, _mark(shown(chosen[-1]))).token())


def _found(items: Sequence[T], place: Place, shown: Callable[[T], Any]) -> int:
    for offset in range(place.offset, min(len(items), place.offset + _GROWTH) + 1):
        if offset <= len(items) and _mark(shown(items[offset - 1])) == place.mark:
            return offset
    raise PageExpired()


def _mark(data: Any) -> str:
    return content_hash(data).rpartition(":")[2][:24]
