"""Questions about many keys, some of them at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 1_000
"""Each is a placeholder: drivers and servers work through a text that grows with them."""


def in_pieces(values: Sequence[T], size: int = AT_ONCE) -> Iterator[Sequence[T]]:
    """In their order."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
