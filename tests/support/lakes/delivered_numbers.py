"""The numbers dataset under a real plane, followed by a live table, in many processes."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import psycopg

from lakeguard_sdk import connect
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import LoadType, TargetFormat
from lakeguard_sdk.model.delivery import DatabaseTable
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.storage import fault_points
from openlaketx.deliver import deliver_published
from tests.support.lakes.delivered_tables import VARIABLES, LiveSchema
from tests.support.lakes.plans import parquet, plan, schema
from tests.support.projects.planes import NUMBERS

TABLE = "bronze_numbers"
KEYED = Load(type=LoadType.FULL, keys=("n",))
STATE = "SELECT version, (SELECT array_agg(n ORDER BY n) FROM {table}) FROM {markers}"


def deliver(client: Client, table: DatabaseTable) -> bool:
    """What the last step of a run does; whether there was anything to do."""
    reported = plan(
        Path(client.lake), parquet(), schema(n="long"), dataset=NUMBERS, load=KEYED,
        format=TargetFormat.POSTGRESQL, database=table,
    )  # fmt: skip
    return deliver_published(reported, client.reader) is not None


def shown(live: LiveSchema) -> tuple[int, list[int]]:
    """The version that the marker names and the rows of the table, of one moment."""
    ((version, rows),) = live.sql(STATE, TABLE)
    return int(version), list(rows or [])


def die_delivering(folder: str, table: DatabaseTable, point: str) -> None:
    """A process that is killed for real at the named point."""

    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    os.environ.update(VARIABLES)
    fault_points.listen(die)
    deliver(connect(folder), table)


def keep_delivering(
    folder: str, table: DatabaseTable, seed: int, until: str, mortality: float = 0
) -> None:
    """A process that delivers again and again, now and then slowly, until the file is there.

    It may be killed at any point where a delivery is under way.
    """
    chance = random.Random(seed)

    def dawdle(reached: str) -> None:
        if not reached.startswith("deliver."):
            return
        time.sleep(chance.random() * 0.1)
        if chance.random() < mortality:
            os.kill(os.getpid(), signal.SIGKILL)

    os.environ.update(VARIABLES)
    fault_points.listen(dawdle)
    client = connect(folder)
    while not Path(until).exists():
        deliver(client, table)
        time.sleep(chance.random() * 0.02)


def watch(live: LiveSchema, seen: list[tuple[int, list[int]]], until: Path) -> None:
    """What a reader sees, each look of one moment; a table that is not there yet is not seen."""
    while not until.exists():
        try:
            look = shown(live)
        except (psycopg.errors.UndefinedTable, ValueError):
            time.sleep(0.01)
            continue
        if not seen or seen[-1] != look:
            seen.append(look)
