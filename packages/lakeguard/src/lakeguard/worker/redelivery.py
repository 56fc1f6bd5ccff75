"""Delivering again what a data database missed while it was away, without a run.

What is missing is found out from the places themselves and the State each time, so that nobody has
to have noted it: a publish, a rollback or a table that was dropped, whoever was alive then.
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
    """After so many failures in a row."""

    until: float
    failures: int
    said: str


@dataclass
class Deliveries:
    """What fails is tried again, more and more seldom, and holds up nothing else; it is told once,
    until it changes."""

    ledger: Ledger
    worker: Callable[[], Worker]
    """Asked for where there is a place to look at, and not before."""
    pauses: DispatchSettings
    warn: Callable[[str], None]
    steady: Callable[[], float] = time.monotonic
    resting: dict[Thing, _Rest] = field(default_factory=dict)

    def catch_up(self) -> int:
        """How many tables show what is published again."""
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
        except Exception as error:  # noqa: BLE001 - whatever it is, others are looked at
            return PlaceMarkers(place=place, problem=discreet_line(error))
        return found

    def _deliver(self, worker: Worker, delivery: Delivery) -> bool:
        thing = (delivery.table.url, delivery.table.schema_name, delivery.table.table_name)
        if not self._may(thing):
            return False
        try:
            done = worker.deliver(delivery)
        except Exception as error:  # noqa: BLE001 - whatever it is, others are delivered
            self._note(thing, discreet_line(error))
            return False
        self._note(thing, "")
        return done

    def _may(self, thing: Thing) -> bool:
        return thing not in self.resting or self.steady() >= self.resting[thing].until

    def _note(self, thing: Thing, said: str) -> None:
        """How it went; empty where it went well."""
        if not said:
            self.resting.pop(thing, None)
            return
        last = self.resting.get(thing)
        failures = 1 if last is None else last.failures + 1
        backoff = Backoff(self.pauses.backoff_first_seconds, self.pauses.backoff_longest_seconds)
        if last is None or last.said != said:
            self.warn(said)
        self.resting[thing] = _Rest(self.steady() + backoff.after(failures), failures, said)


def _place(place: DataPlace) -> Thing:
    return (place.url, place.schema_name)
