"""Lineage of a frame: its analysed plan, with scans of governed files as dataset versions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.model.delta_log import written_whole
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import (
    INVISIBLE_PLAN,
    BatchColumn,
    BatchLineage,
    SourceColumn,
    unknown_lineage,
)
from lakeguard_sdk.model.run import InputPin
from lakeguard_sdk.storage.storage import table_uri
from openlaketx.engine.spark.analysed_plan import Scan
from openlaketx.engine.spark.column_origins import Origins, Source
from openlaketx.engine.spark.plan_lineage import PlanLineage, plan_lineage
from openlaketx.engine.spark.runtime import runtime_of

_NOT_UNDERSTOOD = "a plan that is not understood"
_UNREADABLE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


@dataclass
class Reads:
    """The versions that a build or a program has read, found again by their files."""

    _files: dict[str, set[InputVersion]] = field(default_factory=dict)
    _commits: dict[tuple[str, int], InputVersion] = field(default_factory=dict)
    _whole: dict[frozenset[str], InputVersion] = field(default_factory=dict)
    _columns: dict[InputVersion, tuple[str, ...]] = field(default_factory=dict)
    """Declared columns of the versions."""
    _views: dict[str, InputVersion] = field(default_factory=dict)
    _inputs: dict[str, InputVersion] = field(default_factory=dict)
    _silent: set[str | InputVersion] = field(default_factory=set)
    """Files, and whole versions, whose paths tell nothing of the rows."""

    def add(self, pin: InputPin, files: Collection[str]) -> None:
        """``files`` are those that are read of the version."""
        self._columns[pin.input] = tuple(pin.table_schema.names)
        root = table_uri(pin.snapshot.location).rstrip("/")
        self._commits[root, pin.snapshot.commit] = pin.input
        paths = frozenset(map(table_uri, files))
        self._whole[paths] = pin.input
        for path in paths:
            self._files.setdefault(path, set()).add(pin.input)
        silent = {path for path in paths if _tells_nothing(path.removeprefix(f"{root}/"))}
        self._silent |= silent
        if pin.since is None and silent == paths:
            self._silent.add(pin.input)

    def add_view(self, pin: InputPin, text: str) -> None:
        """The SELECT has the columns of the version, which was added, in their order."""
        self._views[text] = pin.input

    def add_input(self, pin: InputPin, name: str) -> None:
        """The SELECT of a definition reads the version, which was added, as the view ``name``."""
        self._inputs[name] = pin.input

    @property
    def versions(self) -> tuple[InputVersion, ...]:
        return tuple(self._columns)

    @property
    def views(self) -> Mapping[str, Sequence[str]]:
        """Their texts, with the columns of their versions."""
        return {text: self._columns[version] for text, version in self._views.items()}

    @property
    def inputs(self) -> Mapping[str, Sequence[str]] | None:
        """The views of the SELECT, with the columns of their versions; None for a program."""
        return {name: self._columns[each] for name, each in self._inputs.items()} or None

    def has(self, version: InputVersion, source: Source) -> bool:
        """Whether all values of the source are of the declared column of its name, or of none."""
        if not source.is_of_file:
            return source.column.casefold() in map(str.casefold, self._columns[version])
        if source.scan.commit is not None:
            return version in self._silent
        return self._silent.issuperset(source.scan.paths)

    def versions_of(self, scan: Scan) -> frozenset[InputVersion]:
        """The versions that a scan may read: one, or those that have all its files."""
        if scan.view:
            return frozenset({(self._views | self._inputs)[scan.view]})
        paths = frozenset(scan.paths)
        if scan.commit is not None and len(paths) == 1:
            found = self._commits.get((scan.paths[0], scan.commit))
            return frozenset() if found is None else frozenset({found})
        if paths in self._whole:
            return frozenset({self._whole[paths]})
        each = [self._files.get(path, set()) for path in paths]
        return frozenset(set.intersection(*each)) if each else frozenset()


def _tells_nothing(path: str) -> bool:
    """A run names files by itself, unless the table is partitioned: the folder is a hash of the
    values then. Other writers name files and folders as they like."""
    return written_whole(path) and "=" not in path


def frame_lineage(
    frame: DataFrame, reads: Reads, origin: SparkSession | None = None
) -> BatchLineage:
    """What the columns of the frame are made of; what its plan does not show is unknown. ``origin``
    is the session that made it, if it is another one."""
    found = _followed(frame, reads, origin or frame.sparkSession)
    if found is None:
        word = _NOT_UNDERSTOOD if runtime_of(frame).shows_plans else INVISIBLE_PLAN
        return unknown_lineage(frame.columns, reads.versions, word)
    return _resolved(frame.columns, found, reads)


def _followed(frame: DataFrame, reads: Reads, origin: SparkSession) -> PlanLineage | None:
    plan = runtime_of(frame).analysed(frame, origin)
    if plan is None:
        return None
    try:
        found = plan_lineage(plan, reads.views, reads.inputs)
    except _UNREADABLE:  # a plan of another shape than expected
        return None
    return found if len(found.columns) == len(frame.columns) else None


def _resolved(names: Iterable[str], found: PlanLineage, reads: Reads) -> BatchLineage:
    versions = {scan: reads.versions_of(scan) for scan in found.scans}
    columns = tuple(
        _column(name, origins, versions, reads)
        for name, origins in zip(names, found.columns, strict=True)
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
    name: str,
    origins: Origins,
    versions: dict[Scan, frozenset[InputVersion]],
    reads: Reads,
) -> BatchColumn:
    unknown = origins.unknown or not all(
        versions[source.scan] and all(reads.has(each, source) for each in versions[source.scan])
        for source in origins.sources
    )
    sources = () if unknown else sorted(set(_sources(origins, versions)), key=lambda s: s.to_json())
    return BatchColumn(column=name, sources=tuple(sources), unknown=unknown)


def _sources(
    origins: Origins, versions: dict[Scan, frozenset[InputVersion]]
) -> Iterator[SourceColumn]:
    for source in origins.sources:
        if source.is_of_file:
            continue
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
