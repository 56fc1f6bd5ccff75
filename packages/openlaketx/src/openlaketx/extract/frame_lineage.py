"""Lineage of a frame: its analysed plan, with scans of governed files as dataset versions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import (
    INVISIBLE_PLAN,
    BatchColumn,
    BatchLineage,
    SourceColumn,
    unknown_lineage,
)
from lakeguard_sdk.model.run import InputPin
from lakeguard_sdk.storage.storage import local_path
from openlaketx.engine.spark.analysed_plan import Scan
from openlaketx.engine.spark.plan_lineage import Origins, PlanLineage, plan_lineage
from openlaketx.engine.spark.runtime import runtime_of

_NOT_UNDERSTOOD = "a plan that is not understood"
_UNREADABLE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


@dataclass
class Reads:
    """The versions that a build or a program has read, found again by their files."""

    _files: dict[str, set[InputVersion]] = field(default_factory=dict)
    _commits: dict[tuple[str, int], InputVersion] = field(default_factory=dict)
    _whole: dict[frozenset[str], InputVersion] = field(default_factory=dict)
    _versions: dict[InputVersion, None] = field(default_factory=dict)

    def add(self, pin: InputPin, files: Collection[str] = ()) -> None:
        """``files`` are those that are read of the version."""
        self._versions[pin.input] = None
        self._commits[local_path(pin.snapshot.location), pin.snapshot.commit] = pin.input
        paths = frozenset(map(local_path, files))
        self._whole[paths] = pin.input
        for path in paths:
            self._files.setdefault(path, set()).add(pin.input)

    @property
    def versions(self) -> tuple[InputVersion, ...]:
        return tuple(self._versions)

    def versions_of(self, scan: Scan) -> frozenset[InputVersion]:
        """The versions that a scan may read: one, or those that have all its files."""
        paths = frozenset(scan.paths)
        if scan.commit is not None and len(paths) == 1:
            found = self._commits.get((scan.paths[0], scan.commit))
            return frozenset() if found is None else frozenset({found})
        if paths in self._whole:
            return frozenset({self._whole[paths]})
        each = [self._files.get(path, set()) for path in paths]
        return frozenset(set.intersection(*each)) if each else frozenset()


def frame_lineage(frame: DataFrame, reads: Reads) -> BatchLineage:
    """What the columns of the frame are made of; what its plan does not show is unknown."""
    found = _followed(frame)
    if found is None:
        word = _NOT_UNDERSTOOD if runtime_of(frame).shows_plans else INVISIBLE_PLAN
        return unknown_lineage(frame.columns, reads.versions, word)
    return _resolved(frame.columns, found, reads)


def _followed(frame: DataFrame) -> PlanLineage | None:
    plan = runtime_of(frame).analysed(frame)
    if plan is None:
        return None
    try:
        found = plan_lineage(plan)
    except _UNREADABLE:  # a plan of another shape than expected
        return None
    return found if len(found.columns) == len(frame.columns) else None


def _resolved(names: Iterable[str], found: PlanLineage, reads: Reads) -> BatchLineage:
    versions = {scan: reads.versions_of(scan) for scan in found.scans}
    columns = tuple(
        _column(name, origins, versions) for name, origins in zip(names, found.columns, strict=True)
    )
    scanned = {version for found in versions.values() for version in found}
    if any(column.unknown for column in columns):
        scanned |= set(reads.versions)
    places = {place for scan, found in versions.items() if not found for place in _places(scan)}
    return BatchLineage(
        columns=columns,
        inputs=tuple(sorted(scanned, key=lambda item: (item.dataset, item.version))),
        read=reads.versions,
        outside=tuple(sorted({*found.outside, *places})),
    )


def _column(
    name: str, origins: Origins, versions: dict[Scan, frozenset[InputVersion]]
) -> BatchColumn:
    unknown = origins.unknown or any(not versions[source.scan] for source in origins.sources)
    sources = () if unknown else sorted(set(_sources(origins, versions)), key=lambda s: s.to_json())
    return BatchColumn(column=name, sources=tuple(sources), unknown=unknown)


def _sources(
    origins: Origins, versions: dict[Scan, frozenset[InputVersion]]
) -> Iterator[SourceColumn]:
    for source in origins.sources:
        for version in versions[source.scan]:
            yield SourceColumn(
                dataset_id=version.dataset_id,
                version=version.version,
                column=source.column,
                through=tuple(sorted(source.through)),
            )


def _places(scan: Scan) -> tuple[str, ...]:
    """The folder of all files of a scan, or its only file; all of them on several file systems."""
    try:
        return (os.path.commonpath(scan.paths),)
    except ValueError:
        return scan.paths or ("files",)
