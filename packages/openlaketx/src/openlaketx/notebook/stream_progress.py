"""Reports of a streaming query while its program lives: last micro-batch, backlog and state.

A query is looked at, not listened to: however short its micro-batches are, it is reported at most
once a second, and never by the thread that publishes them.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql.streaming.query import StreamingQuery

from lakeguard_sdk.core.enums import StreamState
from lakeguard_sdk.errors import LakeGuardError, PublishBlocked
from lakeguard_sdk.model.streams import LONGEST_TEXT, Backlog, StreamProgress, StreamReport
from lakeguard_sdk.scheduling.process_identity import this_process

_LOOK_SECONDS = 1.0
_REPORT_SECONDS = 30.0
"""The longest time between reports of a query that lives."""
_METRICS = {"numFilesOutstanding": "files", "numBytesOutstanding": "bytes"}
"""Metrics by which sources of some platforms count their backlog; the first one found counts."""

Send = Callable[[StreamReport], None]


class ProgressReporter:
    """Reports the query until it ends, or its program does.

    A report that cannot be delivered is replaced by the next: the query itself never waits.
    """

    def __init__(self, query: StreamingQuery, send: Send, error: Callable[[], Exception | None]):
        self._query = query
        self._send = send
        self._error = error
        self._process = this_process("openlaketx")
        self._over = threading.Event()
        self._reporting = threading.Lock()
        self._ended = False
        self._last: StreamProgress | None = None
        self._next = 0.0

    def start(self) -> None:
        threading.Thread(target=self._watch, name="stream progress", daemon=True).start()

    def finish(self) -> None:
        """Report now what the next look would: the end of the query, if it has ended."""
        self._look()

    def _watch(self) -> None:
        self._look()
        while not self._over.wait(_LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        with self._reporting:
            if self._ended:
                return
            try:
                active = self._query.isActive  # first: what is read next is as new, or newer
                progress = read_progress(self._query)
                self._report(active, progress)
            except (Py4JError, ConnectionError):  # no Spark any more: nobody can say how it ended
                self._ended = True
            except Exception:  # noqa: BLE001 - the query goes on without a report
                return
            finally:
                if self._ended:
                    self._over.set()

    def _report(self, active: bool, progress: StreamProgress | None) -> None:
        if active and progress == self._last and time.monotonic() < self._next:
            return
        state, error = (StreamState.RUNNING, "") if active else self._end()
        query_id, process = str(self._query.id), self._process
        self._send(
            StreamReport(
                query_id=query_id, state=state, process=process, progress=progress, error=error
            )
        )
        self._last, self._next = progress, time.monotonic() + _REPORT_SECONDS
        self._ended = not active

    def _end(self) -> tuple[StreamState, str]:
        """Errors of Spark may show values of rows: only their class is reported."""
        error = self._error() or self._query.exception()
        if error is None:
            return StreamState.ENDED, ""
        state = StreamState.BLOCKED if isinstance(error, PublishBlocked) else StreamState.FAILED
        text = str(error) if isinstance(error, LakeGuardError) else type(error).__name__
        return state, text[: 4 * LONGEST_TEXT]


def read_progress(query: StreamingQuery) -> StreamProgress | None:
    """Of the last micro-batch that ended; None before the first. A trigger that finds no data is
    reported by Spark with the number of the micro-batch to come, which has not begun."""
    for one in reversed(list(query._jsq.recentProgress())):
        found = json.loads(one.json())
        if "addBatch" in found.get("durationMs", {}):
            return parse_progress(found)
    return None


def parse_progress(found: Mapping[str, Any]) -> StreamProgress:
    """From the JSON of Spark's ``StreamingQueryProgress``."""
    spent = float(found.get("durationMs", {}).get("triggerExecution", 0))
    event_time = (found.get("eventTime") or {}).get("max")
    return StreamProgress(
        batch=found["batchId"],
        ended_at=_instant(found["timestamp"]) + timedelta(milliseconds=spent),
        seconds=spent / 1000,
        rows=found.get("numInputRows", 0),
        arriving=found.get("inputRowsPerSecond"),
        processing=found.get("processedRowsPerSecond"),
        event_time=None if event_time is None else _instant(event_time),
        sources=tuple(map(_backlog, found.get("sources", ()))),
    )


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _backlog(source: Mapping[str, Any]) -> Backlog:
    amount, unit = _amount(source)
    return Backlog(
        source=str(source.get("description", ""))[:LONGEST_TEXT],
        rows=source.get("numInputRows", 0),
        amount=amount,
        unit=unit,
    )


def _amount(source: Mapping[str, Any]) -> tuple[int | None, str]:
    metrics = source.get("metrics") or {}
    for name, unit in _METRICS.items():
        if name in metrics:
            return max(0, int(float(metrics[name]))), unit
    latest, end = source.get("latestOffset"), source.get("endOffset")
    if not isinstance(latest, Mapping) or not isinstance(end, Mapping):
        return None, ""
    missing = list(_missing(latest, end))
    return (None, "") if None in missing or not missing else (sum(filter(None, missing)), "offsets")


def _missing(latest: Mapping[str, Any], end: Mapping[str, Any]) -> Iterator[int | None]:
    """Of each partition of each topic: offsets that were there and not read. None where the
    offsets are not those of Kafka: positions in the log of a source count something else."""
    for topic, partitions in latest.items():
        if not isinstance(partitions, Mapping):
            yield None
            continue
        read = end.get(topic) or {}
        for partition, offset in partitions.items():
            yield max(0, offset - read.get(partition, 0)) if isinstance(offset, int) else None
