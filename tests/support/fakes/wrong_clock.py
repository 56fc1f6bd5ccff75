"""A process of a machine whose wall clock is wrong: what it is told to do, it does by its port.

It is started with the seconds that its clock is off, and the State's URL, schema and organisation.
Lines come in as ``[what, argument]`` and go out as what came of it, both in JSON.
"""

from __future__ import annotations

import datetime as dates
import json
import sys
import time
from typing import Any

_now, _real = time.time, dates.datetime


class _Kind(type):
    def __instancecheck__(cls, found: object) -> bool:
        return isinstance(found, _real)


def move_clock(seconds: float) -> None:
    """For all that is imported after: whoever asks this machine for the time hears another."""
    shift = dates.timedelta(seconds=seconds)

    class Moved(_real, metaclass=_Kind):
        @classmethod
        def now(cls, tz: dates.tzinfo | None = None) -> Any:
            return _real.now(tz) + shift

        @classmethod
        def utcnow(cls) -> Any:
            return _real.now(dates.UTC).replace(tzinfo=None) + shift

    dates.datetime = Moved  # type: ignore[misc]
    time.time = lambda: _now() + seconds
    time.time_ns = lambda: int((_now() + seconds) * 1e9)


def main(seconds: float, url: str, schema: str, org_id: str) -> None:
    move_clock(seconds)
    from lakeguard.lake.delta import DeltaTables
    from lakeguard.promotion.context import PlaneContext
    from lakeguard.promotion.moves.reap import reap_reported
    from lakeguard.services.ports.dispatch import EmbeddedDispatch
    from lakeguard.state.database import Database
    from lakeguard_sdk.model.run import RunTicket, WorkerIdentity

    database = Database(url, schema)
    context = PlaneContext(
        database=database,
        tables=DeltaTables(),
        org_id=org_id,
        lake="unused",
        clock=database.clock,
        actor="tester",
    )
    worker = WorkerIdentity(name="far", host="far.example", pid=1, process_mark="far")
    port = EmbeddedDispatch(context)
    doing = {
        "time": lambda _: dates.datetime.now(dates.UTC).isoformat(),
        "claim": lambda most: [one.ticket.to_data() for one in port.claim(worker, limit=most)],
        "keep": lambda tickets: dict(port.keep([RunTicket.model_validate(t) for t in tickets])),
        "reap": lambda _: [task.task_id for task in reap_reported(context)],
    }
    for line in sys.stdin:
        what, argument = json.loads(line)
        sys.stdout.write(json.dumps(doing[what](argument)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]), *sys.argv[2:])
