"""What was worked out of rows that never change, kept for whoever asks again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """By the hash of a definition, or the id of a version: the same key is the same thing, whoever
    has it. Threads may share it: at worst two of them work out the same."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, T] = {}

    def of(
        self, keys: Collection[str], work_out: Callable[[set[str]], Mapping[str, T]]
    ) -> dict[str, T]:
        """By key; ``work_out`` is asked for those that are new."""
        known = {key: self._known.get(key) for key in keys}
        found = {key: value for key, value in known.items() if value is not None}
        missing = known.keys() - found.keys()
        if not missing:
            return found
        new = work_out(missing)
        if len(self._known) + len(new) > self._most:
            self._known.clear()
        self._known.update(new)
        return {**found, **new}
