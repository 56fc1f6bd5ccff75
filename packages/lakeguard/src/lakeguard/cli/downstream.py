"""Building again all that was built from what a back-fill replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakeguard_sdk.client import Client
from lakeguard_sdk.invalidation import Follower, Standing
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.run import RunResult, Window

Run = Callable[[DatasetName, Window | None], RunResult]


def run_downstream(client: Client, name: DatasetName, run: Run) -> list[RunResult]:
    """Every dependent that is behind with an invalidation of ``name``, parents first, each once.

    One that does not end well is left behind, and so are those that are built from it.
    """
    results: list[RunResult] = []
    tried: set[DatasetName] = set()
    while (ready := next(_ready(client, name, tried), None)) is not None:
        tried.add(ready.dataset)
        results.append(run(ready.dataset, ready.window))
    client.operations.reconcile()
    return results


def _ready(client: Client, name: DatasetName, tried: set[DatasetName]) -> Iterator[Follower]:
    for row in client.reader.invalidations(name):
        followers = row.followers if row.dataset == name else ()
        for item in followers:
            waiting = item.standing is Standing.READY and item.dataset not in tried
            if waiting and item.dataset != name:
                yield item
