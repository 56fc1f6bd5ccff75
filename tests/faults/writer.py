"""One of many processes that publish, and die by SIGKILL somewhere on the way."""

from __future__ import annotations

import os
import random
import signal

from lakeguard_sdk import connect
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.storage import fault_points
from tests.support.lakes.published_by_hand import run_by_hand

RUNS = 3


def main(folder: str, who: int) -> None:
    """Every second writer dies at some point of its way; all of them share one table."""
    chance = random.Random(who)
    left = chance.randrange(5, 60) if who % 2 else -1

    def die(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)
    client = connect(folder)
    for number in range(RUNS):
        try:
            run_by_hand(client, [100 * who + number])
        except LakeGuardError as error:
            if not error.retryable:
                raise
        client.deliver()
