"""A process that applies a definition, delivers it, and dies by SIGKILL at a named point."""

from __future__ import annotations

import os
import signal

from lakeguard_sdk import connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.storage import fault_points
from tests.support.projects.planes import numbers_definitions


def owned_by(owner: str) -> Definitions:
    found = numbers_definitions(LoadType.APPEND)
    datasets = tuple(item.model_copy(update={"owner": owner}) for item in found.datasets)
    return found.model_copy(update={"datasets": datasets})


def main(folder: str, point: str) -> None:
    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)
    client = connect(folder)
    client.registry.apply(client.registry.plan(owned_by("somebody else")))
    client.deliver()
