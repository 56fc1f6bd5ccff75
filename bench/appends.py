"""Appends that are many, or that are compared with a large table: against the bare append."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator
from functools import partial

from bench.figures import SCRATCH, Figure
from bench.orders import RULES, write_orders
from bench.orders_project import make_project
from bench.orders_rig import OrdersRig
from bench.turns import in_turns
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker

FILES, FILE_ROWS, FILE_ROUNDS = 200, 500, 5
TABLE_ROWS, NEW_ROWS, TABLE_ROUNDS = 10_000_000, 2_000_000, 3
APPENDS, LATE, TENTH = 1_000, 50, 10
TABLE_RULES = tuple(rule.removesuffix(" scope batch") for rule in RULES)


class Rig(OrdersRig):
    def append(self, number: int) -> float:
        """Seconds of a run that finds one small file."""
        write_orders(self.folder / "landing" / f"{number:05d}.parquet", 10, number * 10)
        return self.guarded()


def append_figures() -> list[Figure]:
    return [many_files(), whole_table(), *many_appends()]


def many_files(files: int = FILES, rounds: int = FILE_ROUNDS) -> Figure:
    """Small files that arrive together."""
    label = f"{files} small files / bare read and append"
    print(f"  {label}", flush=True)
    rig, pairs = _rig("files", RULES), []
    for number in range(rounds + 2):
        landed = [rig.folder / "landing" / f"{number}-{part:03d}.parquet" for part in range(files)]
        for part, file in enumerate(landed):
            write_orders(file, FILE_ROWS, (number * files + part) * FILE_ROWS)
        pairs.append(rig.pair(number, *landed))
    return _ratio(rig, label, pairs[2:], 1.2)


def whole_table(table: int = TABLE_ROWS, new: int = NEW_ROWS, rounds: int = TABLE_ROUNDS) -> Figure:
    """A key that must be unique in the whole table, new keys scattered among those there are."""
    label = f"guarded write, unique in the table, {new / 1e6:g} M onto {table / 1e6:g} M / bare"
    print(f"  {label}", flush=True)
    rig, pairs = _rig("unique", TABLE_RULES), []
    first = 0
    for number, rows in enumerate([table - new, new, *[new] * rounds]):
        file = rig.folder / "landing" / f"{number:03d}.parquet"
        write_orders(file, rows, first, scattered=True)
        first += rows
        pairs.append(rig.pair(number, file))
    return _ratio(rig, label, pairs[2:], 1.2)


def many_appends(appends: int = APPENDS) -> list[Figure]:
    """One small file after the other, the merging of small files included. The last appends are
    made in turns with the tenth of new tables, so that a busy machine slows down both."""
    old = _rig("appends", RULES)
    for number in range(appends - LATE):
        old.append(number)
        if (number + 1) % 100 == 0:
            print(f"    {number + 1} appends", flush=True)
    early, late = [], []
    for number in range(appends - LATE, appends, TENTH):
        for young, aged in _turns(old, number):
            early.append(young)
            late.append(aged)
        times = f"{_mean(late):.2f} s, of new tables {_mean(early):.2f} s"
        print(f"    {number + TENTH} appends: {times}", flush=True)
    shutil.rmtree(old.folder, ignore_errors=True)
    ratio = _mean(late) / _mean(early)
    return [
        Figure(f"append {appends:,} / append 10, compaction included", ratio, "x", 1.5),
        Figure("append 10, mean of 50 about it", _mean(early) * 1000, "ms"),
        Figure(f"append {appends:,}, mean of the last {LATE}", _mean(late) * 1000, "ms"),
    ]


def _turns(old: Rig, number: int) -> Iterator[tuple[float, float]]:
    """Seconds of the tenth append or so of a new table, and of one to the old table."""
    new = _rig("new", RULES)
    before = TENTH // 2
    for first in range(before):
        new.append(first)
    for turn in range(TENTH):
        append = partial(new.append, before + turn)
        yield in_turns(turn, append, partial(old.append, number + turn))


def _mean(times: list[float]) -> float:
    return statistics.fmean(times)


def _ratio(rig: Rig, label: str, pairs: list[tuple[float, float]], bar: float) -> Figure:
    shutil.rmtree(rig.folder, ignore_errors=True)
    return Figure(label, statistics.median(pair[0] / pair[1] for pair in pairs), "x", bar)


def _rig(name: str, rules: tuple[str, ...]) -> Rig:
    folder = SCRATCH / name
    shutil.rmtree(folder, ignore_errors=True)
    client = make_project(folder, rules)
    (folder / "landing").mkdir()
    worker = create_worker(client.for_worker(), spark_options={})
    return Rig(folder, client, worker, spark_session({}, delta=True))
