"""A process that tells of rows and delivers them, and dies by SIGKILL at a named point."""

from __future__ import annotations

import os
import signal

from lakeguard.relay.rebuild import Rebuild
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.storage import register_store
from lakeguard_sdk.storage.store_options import StoreAccess, StoreOptions
from tests.support.lakes.ledgers import (
    ORG,
    now,
    relay_of,
    tell,
)


def main(
    url: str, schema: str, lake: str, point: str, act: str, access: StoreAccess | None
) -> None:
    if access is not None:
        register_store(lake, StoreOptions.of(access))
    hits = {"left": 1}

    def die(reached: str) -> None:
        if reached == point:
            hits["left"] -= 1
            if hits["left"] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    database = Database(url, schema)
    if act == "rebuild":
        fault_points.listen(die)
        Rebuild(OrganisationState.of(database, ORG, now), lake).run()
        return
    relay = relay_of(database, lake)
    tell(database, ["killed 1", "killed 2"])
    fault_points.listen(die)
    relay.drain()
