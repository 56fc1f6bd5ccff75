"""The origins of a column: columns of scans, or something unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from openlaketx.engine.spark.analysed_plan import Node, Scan
from openlaketx.engine.spark.plan_words import FILE_FACTS


class Source(NamedTuple):
    """A column of a scan, and the masking functions applied to it."""

    scan: Scan
    column: str
    through: frozenset[str] = frozenset()
    is_of_file: bool = False
    """Whether it is metadata of the row's file, such as its path, instead of a value in it."""


@dataclass(frozen=True)
class Origins:
    """What a value is derived from."""

    sources: frozenset[Source] = frozenset()
    unknown: bool = False
    of_any_file: bool = False
    """Whether it is metadata of the file that Spark currently reads, such as
    ``input_file_name()``."""
    by_code: bool = False
    """Whether code of the program computes it."""

    def __or__(self, other: Origins) -> Origins:
        return Origins(
            self.sources | other.sources,
            self.unknown or other.unknown,
            self.of_any_file or other.of_any_file,
            self.by_code or other.by_code,
        )

    def through(self, names: frozenset[str]) -> Origins:
        if not names or not self.sources:
            return self
        passed = (source._replace(through=source.through | names) for source in self.sources)
        return replace(self, sources=frozenset(passed))


NOTHING, UNKNOWN, ANY_FILE = Origins(), Origins(unknown=True), Origins(of_any_file=True)
BY_CODE = Origins(unknown=True, by_code=True)


def union(found: Iterable[Origins]) -> Origins:
    result = NOTHING
    for item in found:
        result = result | item
    return result


def scanned(scan: Scan, node: Node) -> Origins:
    """A column by name, or the hidden column with metadata of the file. The origin of any other,
    such as a partition column, is unknown."""
    name, kind = str(node["name"]), node["dataType"]
    if not scan.by_column:
        return UNKNOWN
    if name in scan.columns:
        return Origins(frozenset({Source(scan, name)}))
    fields = kind.get("fields", ()) if isinstance(kind, dict) else ()
    if {str(part["name"]) for part in fields} >= FILE_FACTS:
        return Origins(frozenset({Source(scan, name, is_of_file=True)}))
    return UNKNOWN
