"""pgqueuer: tasks are picked in batches, and their ends are written in batches."""

from __future__ import annotations

import asyncio

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from bench.dispatch import guarantees
from bench.dispatch.racing import Address, Gate, Queue

BATCH = 100
_AT_A_TIME = 10_000


async def _connect(address: Address) -> asyncpg.Connection:
    return await asyncpg.connect(
        host=address.host, port=address.port, user=address.user, database=address.database
    )


def fill(address: Address, tasks: int) -> None:
    asyncio.run(_fill(address, tasks))


async def _fill(address: Address, tasks: int) -> None:
    connection = await _connect(address)
    queries = Queries(AsyncpgDriver(connection))
    if not await queries.has_table("pgqueuer"):
        await queries.install()
    for first in range(0, tasks, _AT_A_TIME):
        count = min(_AT_A_TIME, tasks - first)
        await queries.enqueue(["nothing"] * count, [None] * count, [0] * count)
    await connection.close()


def drain(address: Address, gate: Gate) -> None:
    uvloop.run(_drain(address, gate))


async def _drain(address: Address, gate: Gate) -> None:
    connection = await _connect(address)
    queue = PgQueuer(AsyncpgDriver(connection))

    @queue.entrypoint("nothing")
    async def nothing(_job: Job) -> None:
        pass

    await asyncio.to_thread(gate.pass_through)
    await queue.qm.run(batch_size=BATCH, mode=QueueExecutionMode.drain)


PGQUEUER = Queue(
    name="pgqueuer",
    use=f"processes with asyncpg and uvloop, batches of {BATCH}",
    guarantees=guarantees.PGQUEUER,
    fill=fill,
    drain=drain,
    done="""
        SELECT count(*), max(created) FROM pgqueuer_log
        WHERE status = 'successful' AND created >= '{begun}'
    """,
)
