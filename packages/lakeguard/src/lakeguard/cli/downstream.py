"""Building again all that was built from what a back-fill replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakeguard_sdk.client import Client
from lakeguard_sdk.invalidation import Standing
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.run import RunResult, Window

Run = Callable[[DatasetName, Window | None], RunResult]
Ran = tuple[RunResult, Window | None]
"""How a run ended, and the window that it built; None where it built all."""


def run_downstream(client: Client, name: DatasetName, run: Run) -> list[Ran]:
    """Every dependent that is behind with an invalidation of ``name``, parents first.

    One that does not end well is left behind, and so are those that are built from it.
    """
    ran: list[Ran] = []
    tried: set[tuple[str, DatasetName]] = set()
    while ready := sorted(_ready(client, name, tried)):
        _, invalidation_id, dataset = ready[0]
        tried.add((invalidation_id, dataset))
        window = _window(client, invalidation_id, dataset)
        ran.append((run(dataset, window), window))
    client.operations.reconcile()
    return ran


def _ready(
    client: Client, name: DatasetName, tried: set[tuple[str, DatasetName]]
) -> Iterator[tuple[int, str, DatasetName]]:
    """Each with its place among those whom an invalidation reaches: parents come first."""
    for row in client.reader.invalidations(name):
        followers = row.followers if row.dataset == name else ()
        for place, item in enumerate(followers):
            key = (row.invalidation_id, item.dataset)
            if item.standing is Standing.READY and item.dataset != name and key not in tried:
                yield place, *key


def _window(client: Client, invalidation_id: str, dataset: DatasetName) -> Window | None:
    followers = client.reader.invalidation(invalidation_id).followers
    return next(item.window for item in followers if item.dataset == dataset)
