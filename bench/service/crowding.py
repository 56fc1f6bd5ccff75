"""One caller among another who asks 10,000 times a minute: the other is refused, the one is not
kept waiting."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import quantiles

import httpx

from bench.figures import Figure
from bench.service.rig import Project, Served

LIMITS = """
[env.dev.service]
requests_per_minute = 600
"""
"""Of the project: a tenth of the default, so that its burst is over at once."""
A_MINUTE = 10_000
RATIO_BAR = 2.0
ASKED = 80
_PAUSE_SECONDS = 0.15
"""Fewer than the limit lets in."""
_SENDERS = 4
_SEND_SECONDS = 60.0 / A_MINUTE
_LIST = ("/datasets", {"page_size": "50"})


def crowding_figures(project: Project, service: Served, asked: int = ASKED) -> list[Figure]:
    calm, crowd = project.token("calm"), project.token("crowd")
    alone = _p95(service, calm, asked)
    with _crowd(service, crowd) as answers:
        beside = _p95(service, calm, asked)
    refused = answers[httpx.codes.TOO_MANY_REQUESTS]
    print(f"  {alone * 1000:.1f} ms, {beside * 1000:.1f} ms beside {dict(answers)}", flush=True)
    others = sum(answers.values()) - refused - answers[httpx.codes.OK]
    return [
        Figure("refused of a caller above the limit", refused / sum(answers.values()), "x"),
        Figure("other answers to it than 200 and 429", others, "", 0.0),
        Figure("list p95 of another caller / alone", beside / alone, "x", RATIO_BAR),
    ]


def _p95(service: Served, token: str, asked: int) -> float:
    found = []
    with _client(service, token) as http:
        for _ in range(asked):
            start = time.perf_counter()
            http.get(_LIST[0], params=_LIST[1]).raise_for_status()
            found.append(time.perf_counter() - start)
            time.sleep(_PAUSE_SECONDS)
    return quantiles(found, n=20)[-1]


@contextmanager
def _crowd(service: Served, token: str) -> Iterator[Counter[int]]:
    """Sends at its rate, whatever the answers; several connections, as one may have to wait."""
    answers: Counter[int] = Counter()
    stopped = threading.Event()

    def send(number: int) -> None:
        due = time.monotonic() + number * _SEND_SECONDS
        with _client(service, token) as http:
            while not stopped.wait(max(0.0, due - time.monotonic())):
                due += _SENDERS * _SEND_SECONDS
                answers[http.get(_LIST[0], params=_LIST[1]).status_code] += 1

    senders = [threading.Thread(target=send, args=(number,)) for number in range(_SENDERS)]
    for sender in senders:
        sender.start()
    try:
        yield answers
    finally:
        stopped.set()
        for sender in senders:
            sender.join()


def _client(service: Served, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=f"{service.url}/api/v1", headers=headers, timeout=60.0)
