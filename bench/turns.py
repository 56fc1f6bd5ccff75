"""Two sides of one figure: a governed run, and the same done without us, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

from bench.figures import Figure
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from openlaketx.worker import SparkWorker


def submitted(client: Client, dataset: DatasetName) -> str:
    return client.operations.submit(dataset, "bench")


def governed(worker: SparkWorker, task: str) -> float:
    """Seconds of a run, from open to complete; one that publishes nothing ends the benchmark."""
    start = time.perf_counter()
    result = worker.run_task(task)
    seconds = time.perf_counter() - start
    if result.status is not RunStatus.SUCCESS or result.version is None:
        raise SystemExit(f"the governed run came to {result.status}: {result.error}")
    return seconds


def in_turns(
    number: int, ours: Callable[[], float], theirs: Callable[[], float]
) -> tuple[float, float]:
    """Seconds of both sides, ours first; each begins in every other round."""
    if number % 2 == 0:
        first = ours()
        return first, theirs()
    first = theirs()
    return ours(), first


def against_bare(
    label: str, pairs: Sequence[tuple[float, float]], bar: float | None, note: str = ""
) -> list[Figure]:
    """Seconds of both sides, and both ratios: the worse has to keep the bar, so each has it."""
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    name = "guarded run / bare Delta append"
    return [
        Figure(f"{name}, {label}, medians", median(ours) / median(theirs), "x", bar, note=note),
        Figure(f"{name}, {label}, minima", min(ours) / min(theirs), "x", bar, note=note),
        Figure(f"guarded run, {label}", median(ours), "s"),
        Figure(f"bare Delta append, {label}", median(theirs), "s"),
    ]
