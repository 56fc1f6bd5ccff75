"""How often deliveries are tried, and what is told of those that fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from lakeguard.settings import DispatchSettings
from lakeguard.worker import Redelivery
from lakeguard_sdk.client import Worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import DeliveryFailed
from lakeguard_sdk.model.delivery import DatabaseTable, DataPlace, Delivery, PlaceMarkers
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.ports import Ledger

PAUSES = DispatchSettings(backoff_first_seconds=30, backoff_longest_seconds=100)
URL = "postgresql://db.example/reports"
SERVING = DataPlace(target="serving", url=URL, schema_name="public")
OTHER = DataPlace(target="other", url=URL, schema_name="other")


def table(name: str) -> Delivery:
    made = DatabaseTable(url=URL, schema_name="public", table_name=f"gold_{name}")
    return Delivery(dataset=DatasetName(f"gold.{name}"), load=Load(type=LoadType.FULL), table=made)


@dataclass
class World:
    """A place with two tables; it and each of them may be out of order."""

    places: tuple[DataPlace, ...] = (SERVING,)
    away: str = ""
    broken: dict[str, Exception] = field(default_factory=dict)
    """Targets that fail as nobody foresaw."""
    refused: dict[str, Exception] = field(default_factory=dict)
    missing: list[Delivery] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    moment: float = 0.0

    def __post_init__(self) -> None:
        ledger, worker = cast(Ledger, self), cast(Worker, self)
        self.deliveries = Redelivery(
            ledger, lambda: worker, PAUSES, self.messages.append, lambda: self.moment
        )

    def data_places(self) -> Sequence[DataPlace]:
        return self.places

    def markers(self, places: Sequence[DataPlace]) -> tuple[PlaceMarkers, ...]:
        self.asked += [place.target for place in places]
        for place in places:
            if place.target in self.broken:
                raise self.broken[place.target]
        return tuple(PlaceMarkers(place=place, problem=self.away) for place in places)

    def undelivered(self, found: Sequence[PlaceMarkers]) -> Sequence[Delivery]:
        return list(self.missing) if any(not each.problem for each in found) else []

    def deliver(self, delivery: Delivery) -> bool:
        self.asked.append(delivery.dataset)
        if delivery.dataset in self.refused:
            raise self.refused[delivery.dataset]
        self.missing.remove(delivery)
        return True

    def tried_at(self, until: int) -> list[int]:
        """The seconds, of those up to one, in which something was asked for."""
        tried = []
        for second in range(until):
            self.moment = float(second)
            self.asked.clear()
            self.deliveries.catch_up()
            tried += [second] if self.asked else []
        return tried


def test_a_place_that_is_away_is_asked_more_and_more_seldom_up_to_a_limit() -> None:
    world = World(away="connection refused")
    assert world.tried_at(400) == [0, 30, 90, 190, 290, 390]
    assert world.messages == ["serving: connection refused"]
    world.away, world.missing = "", [table("sales")]
    assert world.deliveries.catch_up() == 0, "it rests"
    world.moment = 490.0
    assert world.deliveries.catch_up() == 1
    assert world.deliveries.resting == {}


def test_what_changed_is_told() -> None:
    world = World(away="connection refused")
    world.deliveries.catch_up()
    world.away, world.moment = "no such database", 30.0
    world.deliveries.catch_up()
    assert world.messages == ["serving: connection refused", "serving: no such database"]


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (DeliveryFailed(dataset="gold.sales", version=2, reason="two rows"), "v2 of gold.sales"),
        (RuntimeError("value 17"), "RuntimeError"),
    ],
)
def test_a_table_that_fails_holds_up_no_other(error: Exception, given: str) -> None:
    world = World(refused={"gold.sales": error}, missing=[table("sales"), table("stock")])
    assert world.deliveries.catch_up() == 1
    assert world.asked == ["serving", "gold.sales", "gold.stock"]
    assert len(world.messages) == 1
    assert world.messages[0].startswith(given)
    assert "17" not in world.messages[0]
    world.asked.clear()
    world.moment = 29.0
    assert world.deliveries.catch_up() == 0
    assert world.asked == ["serving"], "the place is well, the table rests"
    world.refused.clear()
    world.moment = 30.0
    assert world.deliveries.catch_up() == 1


def test_a_place_that_fails_as_nobody_foresaw_holds_up_no_other() -> None:
    world = World(places=(OTHER, SERVING), missing=[table("sales")])
    world.broken = {"other": RuntimeError("value 17")}
    assert world.deliveries.catch_up() == 1
    assert world.messages == ["other: RuntimeError"]
    world.asked.clear()
    world.moment = 29.0
    assert world.deliveries.catch_up() == 0
    assert world.asked == ["serving"], "the other one rests"
    world.broken.clear()
    world.moment = 30.0
    assert world.deliveries.catch_up() == 0
    assert world.deliveries.resting == {}


def test_without_a_place_no_worker_is_made() -> None:
    world = World(places=())
    world.deliveries.worker = lambda: pytest.fail("nobody needs one")
    assert world.deliveries.catch_up() == 0
