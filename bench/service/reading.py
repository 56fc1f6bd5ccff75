"""Lists and searches, one after the other, by whoever reads everything or one domain."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from statistics import quantiles

import httpx

from bench.figures import Figure
from bench.service.rig import DOMAIN, Project, Served

BAR_MS = 100.0
ASKED = 300
WARM_UP = 10
_PAGE = 100
_WORDS = (
    "bronze.events_00042",
    "events_00042",
    "events",
    "field_3",
    "kind 77",
    "bench team events",
    "nowhere",
)
"""One dataset, all of them, and none."""


def reading_figures(project: Project, service: Served, asked: int = ASKED) -> list[Figure]:
    figures = []
    holders = {
        "everything": project.token("reads everything"),
        "one domain": project.token("reads a domain", f"domain:{DOMAIN}"),
    }
    for holder, token in holders.items():
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{service.url}/api/v1", headers=headers) as http:
            figures += _barred(f"list, {holder}", _seconds(http, _pages(http), asked))
            figures += _barred(f"search, {holder}", _seconds(http, _searches(), asked))
    return figures


def _barred(label: str, seconds: Sequence[float]) -> list[Figure]:
    cuts = quantiles(seconds, n=20)
    print(f"  {label}: {cuts[9] * 1000:.1f} ms, p95 {cuts[-1] * 1000:.1f} ms", flush=True)
    return [
        Figure(f"{label}, p95", cuts[-1] * 1000, "ms", BAR_MS),
        Figure(f"{label}, median", cuts[9] * 1000, "ms"),
    ]


Ask = tuple[str, dict[str, str]]


def _pages(http: httpx.Client) -> Iterator[Ask]:
    """Of the list of datasets, from the first to the last and again."""
    asks: list[Ask] = [("/datasets", {"page_size": str(_PAGE)})]
    while token := ask(http, asks[-1]).json()["next_page_token"]:
        asks.append(("/datasets", {"page_size": str(_PAGE), "page_token": token}))
    return cycle(asks)


def _searches() -> Iterator[Ask]:
    return cycle([("/search", {"text": words}) for words in _WORDS])


def ask(http: httpx.Client, wanted: Ask) -> httpx.Response:
    path, query = wanted
    response = http.get(path, params=query)
    if response.status_code != httpx.codes.OK:
        raise SystemExit(f"{path} was answered with {response.status_code}: {response.text}")
    return response


def _seconds(http: httpx.Client, asks: Iterator[Ask], count: int) -> list[float]:
    for wanted in islice(asks, WARM_UP):
        ask(http, wanted)
    found = []
    for wanted in islice(asks, count):
        start = time.perf_counter()
        ask(http, wanted)
        found.append(time.perf_counter() - start)
    return found
