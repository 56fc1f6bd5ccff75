"""Redelivery to target databases that were unavailable, without a run.

What is missing is computed each time from the databases and the State, so that no publish, rollback
or dropped table is overlooked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from lakeguard.settings import DispatchSettings
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.client import Worker
from lakeguard_sdk.error_lines import discreet_line
from lakeguard_sdk.model.delivery import DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.ports import Ledger

Thing = tuple[str, ...]
"""A place, or a table of it."""


@dataclass(frozen=True)
class _Rest:
    """Backoff after consecutive failures."""

    until: float
    failures: int
    message: str


@dataclass
class Redelivery:
    """Failures are retried with backoff per database and table, and reported once, until they
    change."""

    ledger: Ledger
    worker: Callable[[], Worker]
    """Created only if there is a target database."""
    pauses: DispatchSettings
    warn: Callable[[str], None]
    steady: Callable[[], float] = time.monotonic
    resting: dict[Thing, _Rest] = field(default_factory=dict)

    def catch_up(self) -> int:
        """Number of tables delivered."""
        places = [each for each in self.ledger.data_places() if self._may(_place(each))]
        if not places:
            return 0
        worker = self.worker()
        found = [self._markers(worker, place) for place in places]
        for each in found:
            self._note(_place(each.place), each.problem and f"{each.place.target}: {each.problem}")
        return sum(self._deliver(worker, each) for each in self.ledger.undelivered(found))

    def _markers(self, worker: Worker, place: DataPlace) -> PlaceMarkers:
        try:
            (found,) = worker.markers([place])
        except Exception as error:  # noqa: BLE001 - other places are still checked
            return PlaceMarkers(place=place, problem=discreet_line(error))
        return found

    def _deliver(self, worker: Worker, delivery: Delivery) -> bool:
        thing = (delivery.table.url, delivery.table.schema_name, delivery.table.table_name)
        if not self._may(thing):
            return False
        try:
            done = worker.deliver(delivery)
        except Exception as error:  # noqa: BLE001 - others are still delivered
            self._note(thing, discreet_line(error))
            return False
        self._note(thing, "")
        return done

    def _may(self, thing: Thing) -> bool:
        return thing not in self.resting or self.steady() >= self.resting[thing].until

    def _note(self, thing: Thing, message: str) -> None:
        """Records a failure; an empty message means success."""
        if not message:
            self.resting.pop(thing, None)
            return
        last = self.resting.get(thing)
        failures = 1 if last is None else last.failures + 1
        backoff = Backoff(self.pauses.backoff_first_seconds, self.pauses.backoff_longest_seconds)
        if last is None or last.message != message:
            self.warn(message)
        self.resting[thing] = _Rest(self.steady() + backoff.after(failures), failures, message)


def _place(place: DataPlace) -> Thing:
    return (place.url, place.schema_name)
