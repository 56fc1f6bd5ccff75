"""Where every record of the log is, in memory. Computed from the log, and never ahead of it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from lakeguard.records.files.log import Entry, LogEnd, RecordLog, batches
from lakeguard.records.files.series import OrderKey, Row, Series, micros_of, short_id
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import MetadataTarget


class RecordIndex:
    """Its users hold ``lock`` while they look at it or change it."""

    def __init__(self, start: LogEnd) -> None:
        self.end = start
        """Of the log, as far as it is in the index."""
        self.lock = threading.RLock()
        self.series: dict[tuple[str, str], Series] = {}
        """By kind and key of the target."""
        self._targets: dict[tuple[str, str, str], MetadataTarget] = {}

    def of(self, kind: str, target: MetadataTarget) -> Series:
        """The series of a kind and a target; it is created on first use."""
        found = self.series.get((kind, target.key))
        if found is None:
            plain = MetadataTarget(
                source_id=target.source_id, schema_=target.schema_, table=target.table
            )
            found = self.series[(kind, target.key)] = Series(kind, plain)
        return found

    def catch_up(self, log: RecordLog) -> None:
        """Takes in what was appended since; the caller holds the log."""
        with self.lock:
            before = self.end
            for batch in batches(log, before):
                for entry in batch:
                    self._add(entry)
                self.end = batch[-1].after
            if self.end != before:
                log.sync(self.end)

    def extend(self, rows: Iterable[tuple[Series, Row]], before: LogEnd, after: LogEnd) -> None:
        """Takes in what this process appended, unless another thread caught up first."""
        with self.lock:
            if self.end != before:
                return
            for series, row in rows:
                series.add(row)
            self.end = after

    def chosen(self, query: MetadataQuery) -> Sequence[Series]:
        """The series that a query is about."""
        if query.targets and query.kinds:
            keys = {(kind, each.key) for kind in query.kinds for each in query.targets}
            return [self.series[key] for key in keys if key in self.series]
        targets = {target.key for target in query.targets}
        return [
            series
            for (kind, key), series in self.series.items()
            if (not query.kinds or kind in query.kinds) and (not targets or key in targets)
        ]

    def _add(self, entry: Entry) -> None:
        record = entry.line.record
        key = OrderKey(
            micros_of(datetime.fromisoformat(record["produced_at"])),
            short_id(entry.line.record_id),
            record["version"],
        )
        self.of(record["kind"], self._target(record["target"])).add(Row(key, entry.place))

    def _target(self, data: dict[str, Any]) -> MetadataTarget:
        names = (data["source_id"], data["schema"], data["table"])
        found = self._targets.get(names)
        if found is None:
            found = MetadataTarget(source_id=names[0], schema_=names[1], table=names[2])
            self._targets[names] = found
        return found
