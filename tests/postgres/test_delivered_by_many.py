"""Redelivery that die and deliveries that race: readers see whole versions, and the last stays."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.storage import fault_points
from tests.support.lakes.delivered_numbers import (
    TABLE,
    deliver,
    die_delivering,
    keep_delivering,
    shown,
    watch,
)
from tests.support.lakes.delivered_tables import DATA, USER, LiveSchema
from tests.support.lakes.delivered_tables import live as live
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

NEWBORN = multiprocessing.get_context("forkserver")
NEWBORN.set_forkserver_preload(["tests.support.lakes.delivered_numbers"])
PATIENCE_SECONDS = 120
NOT_READ = 255
"""Of a process whose exit code two threads read at once, which multiprocessing does not expect."""


def rows_of(version: int) -> list[int]:
    """Some stay from version to version, some go and some come."""
    return list(range(version, 3 * version + 40))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return numbers_project(tmp_path / "lake", LoadType.FULL)


def process(target: object, *arguments: object) -> multiprocessing.process.BaseProcess:
    started = NEWBORN.Process(target=target, args=arguments)  # type: ignore[arg-type]
    started.start()
    return started


@pytest.mark.parametrize("point", ["deliver.staged", "deliver.marked", "deliver.committed"])
@pytest.mark.parametrize("before", [0, 1], ids=["first delivery", "next delivery"])
def test_a_killed_delivery_is_made_good_by_the_next_run(
    client: Client, tmp_path: Path, live: LiveSchema, point: str, before: int
) -> None:
    for version in range(1, before + 1):
        run_by_hand(client, rows_of(version))
        deliver(client, live.table(TABLE))
    run_by_hand(client, rows_of(before + 1))
    killed = process(die_delivering, str(tmp_path / "lake"), live.table(TABLE), point)
    killed.join(PATIENCE_SECONDS)
    assert killed.exitcode == -signal.SIGKILL
    if point == "deliver.committed":
        assert shown(live) == (before + 1, rows_of(before + 1))
    elif before:
        assert shown(live) == (before, rows_of(before)), "nothing of it is to be seen"
    else:
        assert live.sql("SELECT to_regclass('{table}')", TABLE) == [(None,)]
    assert deliver(client, live.table(TABLE)) is (point != "deliver.committed")
    assert shown(live) == (before + 1, rows_of(before + 1))
    assert not deliver(client, live.table(TABLE)), "the same version again is no work"
    leftovers = "SELECT relname FROM pg_class WHERE relname LIKE '%lakeguard_staging%'"
    assert live.server.sql(leftovers, DATA) == []


@pytest.fixture(params=["read committed", "serializable"])
def usual_isolation(live: LiveSchema, request: pytest.FixtureRequest) -> Iterator[None]:
    """What the server gives to transactions that do not ask."""
    live.server.sql(f"ALTER ROLE {USER} SET default_transaction_isolation = '{request.param}'")
    yield
    live.server.sql(f"ALTER ROLE {USER} RESET default_transaction_isolation")


@pytest.mark.usefixtures("usual_isolation")
def test_a_slow_delivery_is_waited_for_and_does_not_undo_a_newer_one(
    client: Client, live: LiveSchema
) -> None:
    table, staged, go_on = live.table(TABLE), threading.Event(), threading.Event()
    slow = threading.Thread(target=deliver, args=(client, table))
    quick = threading.Thread(target=deliver, args=(client, table))

    def dawdle(point: str) -> None:
        if point == "deliver.staged" and threading.current_thread() is slow:
            staged.set()
            go_on.wait(PATIENCE_SECONDS)

    run_by_hand(client, rows_of(1))
    stop = fault_points.listen(dawdle)
    try:
        slow.start()
        assert staged.wait(PATIENCE_SECONDS)
        run_by_hand(client, rows_of(2))
        quick.start()
        waits_for_a_lock(live)
    finally:
        go_on.set()
        slow.join(PATIENCE_SECONDS)
        quick.join(PATIENCE_SECONDS)
        stop()
    assert shown(live) == (2, rows_of(2))


def waits_for_a_lock(live: LiveSchema) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while live.server.sql(waiting) == [(0,)]:
        assert time.monotonic() < deadline, "the second delivery did not wait for the first"
        time.sleep(0.02)


def test_a_new_schema_is_made_once_by_all_who_need_it(client: Client, live: LiveSchema) -> None:
    run_by_hand(client, rows_of(1))
    tables = [live.table(f"bronze_table_{number}") for number in range(6)]
    with ThreadPoolExecutor(len(tables)) as pool:
        assert list(pool.map(lambda table: deliver(client, table), tables)) == [True] * 6
    assert live.sql("SELECT count(*), min(version) FROM {markers}") == [(6, 1)]


def test_many_at_once_never_show_half_or_an_older_version(
    client: Client, tmp_path: Path, live: LiveSchema
) -> None:
    stop, seen = tmp_path / "stop", list[tuple[int, list[int]]]()
    folder, table = str(tmp_path / "lake"), live.table(TABLE)
    deliverers = [process(keep_delivering, folder, table, seed, str(stop)) for seed in range(3)]
    reader = threading.Thread(target=watch, args=(live, seen, stop))
    reader.start()
    try:
        for version in range(1, 6):
            run_by_hand(client, rows_of(version))
        client.operations.rollback(NUMBERS, 2, "the last were wrong")
        run_by_hand(client, rows_of(6))
        deliver(client, table)
        assert shown(live) == (6, rows_of(6)), "what was published last, and nothing after it"
    finally:
        stop.touch()
        reader.join(PATIENCE_SECONDS)
        for each in deliverers:
            each.join(PATIENCE_SECONDS)
    assert [each.exitcode for each in deliverers] == [0, 0, 0]
    assert shown(live) == (6, rows_of(6))
    assert all(rows == rows_of(version) for version, rows in seen)
    moves = [1, 2, 3, 4, 5, 2, 6]
    assert is_within([version for version, _ in seen], moves), [version for version, _ in seen]


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
def test_many_that_die_at_any_point_never_show_half_or_an_older_version(
    client: Client, tmp_path: Path, live: LiveSchema, seed: int
) -> None:
    stop, seen = tmp_path / "stop", list[tuple[int, list[int]]]()
    folder, table, moves = str(tmp_path / "lake"), live.table(TABLE), [1]
    ends = set[int | None]()
    run_by_hand(client, rows_of(1))

    def replace_the_dead(number: int) -> None:
        for life in range(1000):
            if stop.exists():
                return
            named = seed * 1_000_000 + number * 1000 + life
            one = process(keep_delivering, folder, table, named, str(stop), 0.3)
            one.join(PATIENCE_SECONDS)
            ends.add(one.exitcode)

    watchers = [threading.Thread(target=watch, args=(live, seen, stop))]
    watchers += [threading.Thread(target=replace_the_dead, args=(number,)) for number in range(3)]
    for watcher in watchers:
        watcher.start()
    try:
        for version in range(2, 12):
            run_by_hand(client, rows_of(version))
            moves.append(version)
            if version % 4 == 0:
                client.operations.rollback(NUMBERS, version - 2, "wrong")
                moves.append(version - 2)
            time.sleep(0.3)
    finally:
        stop.touch()
        for watcher in watchers:
            watcher.join(PATIENCE_SECONDS)
    assert ends <= {0, -signal.SIGKILL, NOT_READ}
    assert -signal.SIGKILL in ends
    deliver(client, table)
    assert shown(live) == (11, rows_of(11))
    assert all(rows == rows_of(version) for version, rows in seen)
    assert is_within([version for version, _ in seen], moves), [version for version, _ in seen]


def is_within(seen: list[int], moves: list[int]) -> bool:
    """Whether what was seen follows the moves of the pointer, some of them perhaps unseen."""
    left = iter(moves)
    return all(version in left for version in seen)
