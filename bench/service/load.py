"""Fifty clients at once for minutes: no error, and a service that does not grow."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import quantiles

import httpx

from bench.figures import Figure
from bench.service.rig import DOMAIN, Project, Served

CLIENTS = 50
SECONDS = 600.0
WARM_UP = 0.2
"""The part of the time in which caches fill and threads start."""
GROWTH_BAR = 1.1
_EVERY_SECONDS = 1.0
_PATIENCE_SECONDS = 60.0


@dataclass
class Tally:
    """What the clients saw; each list is appended to by threads."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def load_figures(
    project: Project, service: Served, clients: int = CLIENTS, seconds: float = SECONDS
) -> list[Figure]:
    """Half of the clients see one domain alone. Each asks, and asks again when it has the answer.

    Memory is compared between the ends of the warm-up and of the load, each the most of a while.
    """
    whole = project.token("load")
    part = project.token("load of a domain", f"domain:{DOMAIN}")
    names = [str(row.dataset_name) for row in project.connect().reader.datasets()]
    tally, stopped = Tally(), threading.Event()
    threads = [
        threading.Thread(
            target=_ask_on,
            args=(service.url, whole if number % 2 else part, names, number, tally, stopped),
            daemon=True,
        )
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    resident = _watched(service.resident_bytes, seconds)
    stopped.set()
    for thread in threads:
        thread.join(_PATIENCE_SECONDS)
    print(f"  {len(tally.seconds):,} answers, {tally.errors[:3]}", flush=True)
    return _figures(tally, resident, clients, seconds)


def _watched(read: Callable[[], int], seconds: float) -> list[int]:
    """Bytes, from the start to the end."""
    end, found = time.monotonic() + seconds, []
    while time.monotonic() < end:
        found.append(read())
        time.sleep(min(_EVERY_SECONDS, seconds / 20))
    return found


def _figures(tally: Tally, resident: Sequence[int], clients: int, seconds: float) -> list[Figure]:
    piece = max(1, int(len(resident) * WARM_UP))
    before, after = max(resident[piece : 2 * piece]), max(resident[-piece:])
    p95 = quantiles(tally.seconds, n=20)[-1]
    label = f"{clients} clients, {seconds:,.0f} s"
    return [
        Figure(f"errors, {label}", len(tally.errors), "", 0.0),
        Figure(f"memory at the end / after the warm-up, {label}", after / before, "x", GROWTH_BAR),
        Figure(f"memory, {label}", after / 2**20, "MB"),
        Figure(f"answers, {label}", len(tally.seconds) / seconds, "/s"),
        Figure(f"answers, {label}, p95", p95 * 1000, "ms"),
    ]


def _ask_on(
    url: str, token: str, names: Sequence[str], seed: int, tally: Tally, stopped: threading.Event
) -> None:
    chance, rounds = random.Random(seed), count()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=60.0) as http:
        while not stopped.is_set():
            path, query = _question(next(rounds), chance.choice(names))
            start = time.perf_counter()
            try:
                response = http.get(path, params=query)
            except httpx.HTTPError as error:
                tally.errors.append(f"{path}: {type(error).__name__}")
                continue
            tally.seconds.append(time.perf_counter() - start)
            if response.status_code not in _EXPECTED:
                tally.errors.append(f"{path}: {response.status_code} {response.text[:200]}")


_EXPECTED = (httpx.codes.OK, httpx.codes.NOT_FOUND)
"""A dataset of another domain is not found."""


def _question(number: int, name: str) -> tuple[str, dict[str, str]]:
    asks: tuple[tuple[str, dict[str, str]], ...] = (
        ("/datasets", {"page_size": "50"}),
        ("/search", {"text": name.partition(".")[2], "page_size": "20"}),
        (f"/datasets/{name}", {}),
        (f"/datasets/{name}/definition", {}),
        (f"/datasets/{name}/rules", {}),
        ("/runs", {"page_size": "20"}),
    )
    return asks[number % len(asks)]
