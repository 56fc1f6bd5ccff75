"""``records``: a million metadata records in files of a lake, of 1,000 targets and 5 kinds."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.figures import SCRATCH, Figure
from lakeguard.records.files.names import records_root
from lakeguard.records.files.repository import FilesRepository, open_repository
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.payloads import GuardrailOutcome, IngestionVolume, LoadExtras
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import (
    MetadataContext,
    MetadataEnvironment,
    MetadataRecord,
    MetadataTarget,
)

NAME = "records"
RECORDS, BATCH, ASKED = 1_000_000, 5_000, 300
TENANT = "default"
START = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = (IngestionVolume.KIND, "bench_one", "bench_two", "bench_three", "bench_four")
TARGETS = tuple(
    MetadataTarget(source_id="warehouse", schema_="public", table=f"table_{number}")
    for number in range(1_000)
)
SERIES = len(TARGETS) * len(KINDS)


def run() -> list[Figure]:
    count = int(os.environ.get("LAKEGUARD_BENCH_RECORDS", RECORDS))
    SCRATCH.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=SCRATCH) as folder:
        root = records_root(folder, TENANT)
        with open_repository(root, TENANT) as repository:
            figures = [_stored(repository, count)]
            repository.save_index()
        begun = time.perf_counter()
        with open_repository(root, TENANT) as repository:
            opened = time.perf_counter() - begun
            figures.append(Figure(f"start with {count:,} records", opened, "s", 2.0))
            figures += _answers(repository, count)
            size = sum(path.stat().st_size for path in Path(root, "log").iterdir())
        figures.append(Figure("log, of one record", size / count, "bytes"))
    return figures


def record(number: int) -> MetadataRecord:
    """Of series after series, an hour after the one before it."""
    payload = IngestionVolume(
        rows=number,
        bytes=number * 100,
        mode="INCREMENTAL",
        filter="day = '2026-01-01'",
        watermark="2026-01-01T00:00:00Z",
        dataset_id="flights",
        version=3,
        input_run_ids=("run-1", "run-2"),
    )
    made = payload.record(
        TARGETS[number % len(TARGETS)],
        MetadataContext(environment=MetadataEnvironment(tenant=TENANT), run_id=f"run-{number}"),
        produced_at=START + timedelta(hours=number // SERIES),
        producer_id="ingestion.v1",
        extras=LoadExtras(
            window_start=START, window_end=START, guardrail=GuardrailOutcome.OK
        ),
    )  # fmt: skip
    return made.model_copy(update={"kind": KINDS[number // len(TARGETS) % len(KINDS)]})


def _stored(repository: FilesRepository, count: int) -> Figure:
    for kind in KINDS[1:]:
        repository.register_kind(MetadataKind(kind=kind, json_schema={"type": "object"}))
    seconds = 0.0
    for first in range(0, count, BATCH):
        batch = [record(number) for number in range(first, min(count, first + BATCH))]
        begun = time.perf_counter()
        repository.bulk_store(batch)
        seconds += time.perf_counter() - begun
    note = f"batches of {BATCH:,}; the records are made beforehand"
    return Figure("bulk_store", count / seconds, "records/s", 20_000, least=True, note=note)


def _answers(repository: FilesRepository, count: int) -> Iterator[Figure]:
    chosen = random.Random(7)

    def series() -> tuple[MetadataTarget, str]:
        return chosen.choice(TARGETS), chosen.choice(KINDS)

    since = START + timedelta(hours=max(0, count // SERIES - 90))
    for name, ask, bar in (
        ("latest", lambda: repository.latest(*series()), 1.0),
        ("history of 90 records", lambda: repository.history(*series(), since=since), 20.0),
        ("first page of all", lambda: repository.query(MetadataQuery()), None),
    ):
        yield Figure(name, _median_ms(ask), "ms", bar)


def _median_ms(ask: Callable[[], Any]) -> float:
    taken = []
    for _ in range(ASKED):
        begun = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1000
