"""procrastinate: one task at a time for each of a worker's tasks under way."""

from __future__ import annotations

import asyncio
import logging

from procrastinate import App, PsycopgConnector

from bench.dispatch import guarantees
from bench.dispatch.racing import Address, Gate, Queue

AT_ONCE = 4
"""Tasks that a worker has under way; more were no faster on two cores."""
_AT_A_TIME = 10_000


def _app(address: Address) -> App:
    place = {
        "host": address.host,
        "port": address.port,
        "user": address.user,
        "dbname": address.database,
    }
    app = App(connector=PsycopgConnector(kwargs=place, max_size=AT_ONCE + 1))
    app.task(name="nothing")(_nothing)
    return app


async def _nothing() -> None:
    pass


def fill(address: Address, tasks: int) -> None:
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    asyncio.run(_fill(_app(address), tasks))


async def _fill(app: App, tasks: int) -> None:
    async with app.open_async():
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        for first in range(0, tasks, _AT_A_TIME):
            wanted = [{} for _ in range(first, min(first + _AT_A_TIME, tasks))]
            await app.configure_task("nothing").batch_defer_async(*wanted)


def drain(address: Address, gate: Gate) -> None:
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    asyncio.run(_drain(_app(address), gate))


async def _drain(app: App, gate: Gate) -> None:
    async with app.open_async():
        await asyncio.to_thread(gate.pass_through)
        await app.run_worker_async(concurrency=AT_ONCE, wait=False, install_signal_handlers=False)


PROCRASTINATE = Queue(
    name="procrastinate",
    use=f"processes with asyncio, {AT_ONCE} tasks at once each",
    guarantees=guarantees.PROCRASTINATE,
    fill=fill,
    drain=drain,
    done="""
        SELECT count(*), max(at) FROM procrastinate_events
        WHERE type = 'succeeded' AND at >= '{begun}'
    """,
)
