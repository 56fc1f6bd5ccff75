"""Completions while a session holds tasks and does nothing: its transaction is never ended."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from bench.dispatch.ours import OURS, context_of, fill, work_off
from bench.dispatch.racing import Address, race
from bench.figures import Figure
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from tests.support.databases.databases import Server

HELD = 100
WORKERS = 8
ROUNDS = 3
LEAST = 0.6
"""Of the completions without such a session."""


def held_figures(
    server: Server, workers: int = WORKERS, tasks: int = 4_000, rounds: int = ROUNDS
) -> list[Figure]:
    """In turns, so that a busy machine slows down both."""
    free, held = [], []
    for _ in range(rounds):
        free.append(race(server, OURS, workers, tasks))
        with _holding(server):
            held.append(race(server, OURS, workers, tasks))
        print(
            f"  a session holds {HELD} tasks: {held[-1]:,.0f}/s beside {free[-1]:,.0f}/s",
            flush=True,
        )
    ratio = statistics.median(held) / statistics.median(free)
    label = f"{OURS.name}, completions while a session holds {HELD} tasks"
    return [Figure(label, ratio, "x", LEAST, least=True)]


@contextmanager
def _holding(server: Server) -> Iterator[None]:
    address = Address(str(server.folder), server.port)
    fill(address, HELD)
    with psycopg.connect(server.conninfo()) as idle:
        taken = idle.execute(
            "SELECT 1 FROM race.tasks WHERE state = 'queued' FOR UPDATE"
        ).fetchall()
        assert len(taken) == HELD, len(taken)
        yield
    work_off(EmbeddedDispatch(context_of(address, "race")))
