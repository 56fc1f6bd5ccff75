"""How long a small command holds the terminal after its last printed byte, early and late."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.figures import SCRATCH, Figure
from lakeguard_sdk import Client
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

EARLY, LATE = 10, 1_000
EARLY_BAR_MS, LATE_BAR_MS = 400.0, 600.0
ROUNDS = 5


def command_exit() -> list[Figure]:
    """``rollback`` is the small command that writes most tables: it is a whole run."""
    folder = SCRATCH / "exit"
    shutil.rmtree(folder, ignore_errors=True)
    client = numbers_project(folder)
    figures = []
    runs = 0
    for until, bar in ((EARLY, EARLY_BAR_MS), (LATE, LATE_BAR_MS)):
        runs = _run_until(client, runs, until)
        best = min(_rollback(folder, runs, round_) for round_ in range(ROUNDS))
        print(f"  exit after the last byte at run {until:,}: {best:.0f} ms", flush=True)
        figures.append(Figure(f"exit of a small command at run {until:,}", best, "ms", bar))
    return figures


def _run_until(client: Client, done: int, wanted: int) -> int:
    """Each run is delivered by itself, as commands do, so that the ledger has as many batches."""
    for number in range(done, wanted):
        run_by_hand(client, [number])
        client.deliver()
        if number % 100 == 99:
            print(f"  {number + 1:,} runs", flush=True)
    return wanted


def _rollback(folder: Path, versions: int, round_: int) -> float:
    """Milliseconds from the command's last byte to its end."""
    to = max(1, versions - 1 - round_ % 2)
    command = [sys.executable, "-m", "lakeguard.cli.main", "--project", str(folder)]
    arguments = ["rollback", NUMBERS, "--to", f"v{to}", "--reason", "bench"]
    with subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        last = time.perf_counter()
        while os.read(process.stdout.fileno(), 65536):
            last = time.perf_counter()
        process.wait()
        ended = time.perf_counter()
    if process.returncode:
        raise SystemExit(f"rollback to v{to} ended with {process.returncode}")
    return (ended - last) * 1000
