"""A registry of 5,000 datasets: applied, listed, changed, read from files. What it tells: relayed,
proved, and the State made again from it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench.command_exit import command_exit
from bench.figures import SCRATCH, Figure
from bench.many_datasets import changed, many_definitions, write_changed, write_folder
from bench.proof import proved
from bench.relayed import relayed
from bench.verifying import verified
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, connect
from lakeguard_sdk.model.definitions import Definitions

NAME = "registry"
DATASETS = 5_000
ROUNDS = 5
LIST_BAR_MS = 100.0
CHANGE_BAR_S = 1.0
LOAD_BAR_S = 1.5


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    folder = SCRATCH / "registry"
    try:
        print(f"{NAME}: {DATASETS:,} datasets of 20 columns and 5 rules", flush=True)
        client, definitions = _project(folder), many_definitions(DATASETS)
        return [
            *first_apply(client, definitions),
            *listing(client),
            *one_change(client, definitions),
            *folder_load(folder),
            *relayed(),
            *command_exit(),
            *verified(),
            *proved(),
        ]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def first_apply(client: Client, definitions: Definitions) -> list[Figure]:
    """Everything at once, into an empty registry; there is only one first time."""
    seconds, cpu = _timed(lambda: client.registry.apply(client.registry.plan(definitions)))
    print(f"  first plan and apply: {seconds:.1f} s", flush=True)
    return [
        Figure("first plan and apply", seconds, "s"),
        Figure("first plan and apply, CPU", cpu, "s"),
    ]


def listing(client: Client) -> list[Figure]:
    return [
        *_best("list of all datasets", client.reader.datasets, "ms", LIST_BAR_MS),
        *_best("health list of all datasets", client.reader.status, "ms"),
    ]


def one_change(client: Client, definitions: Definitions) -> list[Figure]:
    """One dataset of all has another owner each time."""
    rounds = iter(range(10 * ROUNDS))

    def whole() -> None:
        given = changed(definitions, 7, owner=f"team-{next(rounds)}")
        _apply_one(client, given)

    def alone() -> None:
        given = changed(definitions, 7, owner=f"team-{next(rounds)}")
        _apply_one(client, Definitions(datasets=given.datasets[7:8]))

    return [
        *_best("plan and apply of one change, all given", whole, "s", CHANGE_BAR_S),
        *_best("plan and apply of one change, it alone given", alone, "s", CHANGE_BAR_S),
    ]


def folder_load(folder: Path) -> list[Figure]:
    """The files of all datasets; one of them is another one each time."""
    write_folder(folder, DATASETS)
    seconds, cpu = _timed(lambda: load_folder(folder))
    print(f"  first reading of the folder: {seconds:.1f} s", flush=True)
    rounds = iter(range(10 * ROUNDS))

    def again() -> None:
        write_changed(folder, 7, owner=f"team-{next(rounds)}")
        load_folder(folder)

    return [
        Figure("folder read for the first time", seconds, "s"),
        Figure("folder read for the first time, CPU", cpu, "s"),
        *_best("folder read again, one file changed", again, "s", LOAD_BAR_S),
    ]


def _project(folder: Path) -> Client:
    folder.mkdir(parents=True)
    (folder / "lakeguard.toml").write_text("[env.dev]\n")
    return connect(folder)


def _apply_one(client: Client, definitions: Definitions) -> None:
    applied = client.registry.apply(client.registry.plan(definitions))
    if applied.steps != 1:
        raise SystemExit(f"{applied.steps} steps for one change")


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the wall, and of the processor."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def _best(
    label: str, work: Callable[[], object], unit: str, bar: float | None = None
) -> list[Figure]:
    """The best of several rounds: others on the machine can only make it slower."""
    times = [_timed(work) for _ in range(ROUNDS)]
    scale = 1000.0 if unit == "ms" else 1.0
    wall, cpu = (min(column) * scale for column in zip(*times, strict=True))
    print(f"  {label}: {wall:.3f} {unit}, {cpu:.3f} {unit} CPU", flush=True)
    return [Figure(label, wall, unit, bar), Figure(f"{label}, CPU", cpu, unit)]
