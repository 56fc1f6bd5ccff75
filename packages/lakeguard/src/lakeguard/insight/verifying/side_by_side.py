"""Many small readings of files, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_THREADS = 4
_A_SHARE = 250
"""Handing one reading to a thread costs more than the reading."""


def side_by_side(
    call: Callable[[Asked], Answer], items: Iterable[Asked]
) -> Iterator[tuple[Asked, Answer]]:
    """Each item with its answer, in order."""

    def share(some: list[Asked]) -> list[Answer]:
        return [call(item) for item in some]

    waiting = iter(items)
    with ThreadPoolExecutor(_THREADS) as pool:
        while shares := [
            part for _ in range(_THREADS) if (part := list(islice(waiting, _A_SHARE)))
        ]:
            for part, answers in zip(shares, pool.map(share, shares), strict=True):
                yield from zip(part, answers, strict=True)
