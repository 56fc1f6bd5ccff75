"""200,000 rows over six tables, from the State's queue to the ledger on the lake."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Table

from bench.figures import SCRATCH, Figure
from lakeguard.relay.attach import attach
from lakeguard.relay.relay import Relay
from lakeguard.state import outbox, schema
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState

ROWS = 200_000
ROUNDS = 5
BAR_US = 50.0
"""20,000 rows a second."""
ORG = "default"


def relayed(count: int = ROWS, rounds: int = ROUNDS) -> list[Figure]:
    folder = SCRATCH / "relayed"
    shutil.rmtree(folder, ignore_errors=True)
    database = Database(f"sqlite:///{folder}/.lakeguard/state.db")
    database.migrate()
    attach(OrganisationState.of(database, ORG, _now), str(folder))
    relay = Relay(OrganisationState.of(database, ORG, _now), str(folder))
    relay.drain()
    walls, cpus = zip(
        *(_round(database, relay, number, count) for number in range(rounds)), strict=True
    )
    print(f"  relay: {1e6 / min(walls):,.0f} rows/s", flush=True)
    return [
        Figure(f"relay of {count:,} rows over six tables, per row", min(walls), "us", BAR_US),
        Figure(f"relay of {count:,} rows over six tables, per row, CPU", min(cpus), "us"),
    ]


def _round(database: Database, relay: Relay, number: int, count: int) -> tuple[float, float]:
    for table, rows in _fact_rows(f"{number}-", count // 6):
        with OrganisationState.of(database, ORG).write() as tx:
            outbox.record(tx, table, rows, _now())
    wall, cpu = time.perf_counter(), time.process_time()
    sent = relay.drain().rows
    spent = time.perf_counter() - wall, time.process_time() - cpu
    return spent[0] / sent * 1e6, spent[1] / sent * 1e6


def _fact_rows(mark: str, count: int) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """Rows as runs and records make them; none refers to another."""
    at, numbers = _now(), [f"{mark}{number:06d}" for number in range(count)]
    own = {"org_id": ORG}
    body = '{"note":"' + "x" * 300 + '"}'
    yield schema.documents, [{**own, "content_hash": n, "body": body} for n in numbers]
    yield (
        schema.tasks,
        [
            {
                **own,
                "task_id": n,
                "kind": "build",
                "dataset_id": "ds",
                "dedupe_key": n,
                "parameters": "{}",
                "triggered_by": "bench",
                "created_at": at,
                "max_attempts": 3,
                "priority": 0,
                "labels": "",
                "changes": 0,
                "state": "queued",
                "attempt": 0,
            }
            for n in numbers
        ],
    )
    yield (
        schema.governed_tables,
        [
            {**own, "dataset_id": n, "location": f"bronze/{n}", "table_id": n, "created_at": at}
            for n in numbers
        ],
    )
    yield (
        schema.version_inputs,
        [
            {
                **own,
                "dataset_id": n,
                "version": 1,
                "input_dataset_id": "ds",
                "input_dataset_name": "bronze.orders",
                "input_version": 7,
            }
            for n in numbers
        ],
    )
    yield (
        schema.invalidations,
        [
            {
                **own,
                "invalidation_id": n,
                "dataset_id": "ds",
                "scope": "{}",
                "reason": "manual",
                "created_at": at,
                "created_by": "bench",
            }
            for n in numbers
        ],
    )
    yield (
        schema.column_lineage,
        [
            {
                **own,
                "dataset_id": n,
                "version": 1,
                "column_name": "a",
                "input_dataset_id": "ds",
                "input_column": "b",
            }
            for n in numbers
        ],
    )


def _now() -> datetime:
    return datetime.now(UTC)
