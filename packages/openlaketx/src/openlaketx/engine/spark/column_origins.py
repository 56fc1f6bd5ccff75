"""What the values of a column are made of: columns of scans, or something unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from openlaketx.engine.spark.analysed_plan import Scan


class Source(NamedTuple):
    """A column of a scan, and the masking functions applied to it."""

    scan: Scan
    column: str
    through: frozenset[str] = frozenset()
    is_of_file: bool = False
    """Whether it is a fact of the row's file, such as its path, instead of a value in it."""


@dataclass(frozen=True)
class Origins:
    """What a value is made of."""

    sources: frozenset[Source] = frozenset()
    unknown: bool = False
    of_any_file: bool = False
    """Whether it is a fact of whichever file Spark reads at the moment."""

    def __or__(self, other: Origins) -> Origins:
        return Origins(
            self.sources | other.sources,
            self.unknown or other.unknown,
            self.of_any_file or other.of_any_file,
        )

    def through(self, names: frozenset[str]) -> Origins:
        if not names or not self.sources:
            return self
        passed = (source._replace(through=source.through | names) for source in self.sources)
        return Origins(frozenset(passed), self.unknown, self.of_any_file)


NOTHING, UNKNOWN, ANY_FILE = Origins(), Origins(unknown=True), Origins(of_any_file=True)


def union(found: Iterable[Origins]) -> Origins:
    result = NOTHING
    for item in found:
        result = result | item
    return result
