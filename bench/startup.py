"""How long commands take that a person types all day, beside the import of SQLAlchemy, which each
of them needs: in turns, in one run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bench.cold_run import cold_run
from bench.figures import SCRATCH, Figure

NAME = "startup"
ROUNDS = 15
BAR_S = 0.5
BAR_TIMES = 2.5
IMPORT = "import sqlalchemy"
COMMANDS = ("status", "validate", "runs", "why silver.orders", "plan", "run --help")
LAKEGUARD = (sys.executable, "-m", "lakeguard.cli.main")
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""Installed packages have their bytecode."""


def run() -> list[Figure]:
    """The bars are for the least time of each: others on the machine can only make it slower."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        print(f"{NAME}: {ROUNDS} rounds of {len(COMMANDS)} commands, in turns", flush=True)
        applied, built = _project("applied"), _project("built")
        _call([*LAKEGUARD, "run", "--all"], built)
        work = {IMPORT: ([sys.executable, "-c", IMPORT], built)}
        work |= {name: ([*LAKEGUARD, *name.split()], built) for name in COMMANDS}
        work["status before any run"] = ([*LAKEGUARD, "status"], applied)
        return [*_figures(_in_turns(work)), *cold_run()]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def _project(name: str) -> Path:
    folder = SCRATCH / name
    folder.mkdir(parents=True)
    _call([*LAKEGUARD, "init", "--example", "."], folder)
    _call([*LAKEGUARD, "apply"], folder)
    return folder


def _in_turns(work: dict[str, tuple[list[str], Path]]) -> dict[str, list[float]]:
    """Seconds of each round; a first one, which writes bytecode, does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for number in range(ROUNDS + 1):
        for name, (command, folder) in work.items():
            taken = _call(command, folder)
            if number:
                seconds[name].append(taken)
    return seconds


def _call(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return time.perf_counter() - start


def _figures(seconds: dict[str, list[float]]) -> list[Figure]:
    beside = seconds.pop(IMPORT)
    figures = [
        Figure(f"{IMPORT}, median", median(beside), "s"),
        Figure(f"{IMPORT}, least", min(beside), "s"),
    ]
    for name, taken in seconds.items():
        times = min(taken) / min(beside)
        figures += [
            Figure(f"{name}, median", median(taken), "s"),
            Figure(f"{name}, least", min(taken), "s", BAR_S),
            Figure(f"{name}, least, in imports of SQLAlchemy", times, "times", BAR_TIMES),
        ]
    return figures
