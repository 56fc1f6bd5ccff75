"""Real histories of quarantined rows, replayed, discarded and rolled back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

import pytest

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import AlreadyPublished, NothingQuarantined
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineSelection
from lakeguard_sdk.model.run import RunResult
from openlaketx.worker import create_worker
from tests.property.quarantine.model import Filed, Model
from tests.support.lakes.loaded_tables import TABLE, LoadedTable
from tests.support.projects.definitions import rule

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.usefixtures("spark")]

COLUMNS = {"id": "long", "amount": "long", "seq": "long"}
KEYED = {"keys": ("id",), "order_by": ("seq",)}
LOADS = [
    Load(type=LoadType.FULL),
    Load(type=LoadType.APPEND),
    Load(type=LoadType.INCREMENTAL, **KEYED),
    Load(type=LoadType.SNAPSHOT, **KEYED),
]
EVERY = QuarantineSelection()
RULE, STRICT, LAX = "amount", 0, -5
STEPS = 14


def least(amount: int) -> RuleDefinition:
    return rule(f"ge(amount, value={amount}) on_fail quarantine", rule_id=RULE)


@dataclass
class History:
    """A table of the real engine beside a book of every row."""

    table: LoadedTable
    model: Model = field(default_factory=Model)
    least: int = STRICT
    landed: dict[str, list[int]] = field(default_factory=dict)
    """The amounts in each file."""
    read: dict[int | None, set[str]] = field(default_factory=lambda: {None: set()})
    """The files that each version has read."""
    filed: dict[Filed, list[int]] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=lambda: count(1))

    def land_and_run(self, chance: Random) -> None:
        amounts = [chance.choice([1, 2, -3, -9]) for _ in range(chance.randint(1, 6))]
        numbers = [next(self.numbers) for _ in amounts]
        rows = [
            {"id": number, "amount": amount, "seq": number}
            for number, amount in zip(numbers, amounts, strict=True)
        ]
        self.landed[self.table.land(rows)] = amounts
        known = self.read[self.model.shown]
        renews = self.table.load.type in (LoadType.FULL, LoadType.SNAPSHOT)
        names = [name for name in self.landed if renews or name not in known]
        ended = self.table.run()
        assert ended.version is not None, ended
        batch = [amount for name in names for amount in self.landed[name]]
        again = self._file(ended, batch)
        good = len(batch) - again.total()
        self.model.publish(ended.version, good, again, 0, renews=renews)
        self.read[ended.version] = known | set(names)

    def replay(self, chance: Random) -> None:
        self._say(chance.choice([STRICT, LAX]))
        base, taken = self.model.shown, list(self.model.quarantined())
        try:
            task = self.table.client.operations.submit_replay(TABLE, "tests", EVERY)
        except NothingQuarantined:
            assert not taken
            return
        ended = create_worker(self.table.client.for_worker(), spark_options={}).run_task(task)
        amounts = [amount for key in taken for amount in self.filed[key]]
        if all(amount < self.least for amount in amounts):  # they wait as before
            assert (ended.status, ended.version) == (RunStatus.SUCCESS, None), ended
            return
        assert ended.version is not None, ended
        again = self._file(ended, amounts)
        self.model.replay(ended.version, taken, again)
        self.read[ended.version] = self.read[base]

    def discard(self, chance: Random) -> None:
        quarantined = sorted(self.model.quarantined())
        if quarantined:
            chosen = chance.choice(quarantined)
            self.table.client.operations.discard(
                TABLE, QuarantineSelection(runs=(chosen[0],)), "tests"
            )
            self.model.discarded.add(chosen)

    def roll_back(self, chance: Random) -> None:
        target = chance.choice(sorted(self.model.books))
        try:
            self.table.client.operations.rollback(TABLE, target, "tests")
        except AlreadyPublished:
            return
        self.model.roll_back(target)

    def check(self) -> None:
        reported = self.table.client.reader.quarantine_balance(TABLE)
        found = (
            reported.read,
            reported.published,
            reported.quarantined,
            reported.discarded,
            reported.malformed,
        )
        assert (reported.adds_up, reported.version, found) == (
            True,
            self.model.shown,
            self.model.balance(),
        )
        if self.table.load.type is not LoadType.SNAPSHOT:  # it keeps rows of keys quarantined
            assert len(self.table.by_deltalake()) == reported.published
        assert self.table.client.ledger.verify(replay=True).findings == ()

    def _say(self, amount: int) -> None:
        self.least, self.table.rules = amount, (least(amount),)
        self.table.redefine()

    def _file(self, ended: RunResult, batch: list[int]) -> Counter[Filed]:
        bad = [amount for amount in batch if amount < self.least]
        self.filed[(ended.run_id, RULE)] = bad
        return Counter({(ended.run_id, RULE): len(bad)}) if bad else Counter()


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.type.value)
def test_every_row_is_accounted_for_by_the_real_engine(tmp_path: Path, load: Load) -> None:
    chance = Random(load.type.value)
    history = History(LoadedTable(tmp_path, load, COLUMNS, (least(STRICT),)))
    history.land_and_run(chance)
    acts = [history.land_and_run, history.replay, history.replay, history.discard]
    for _ in range(STEPS):
        chance.choice([*acts, history.roll_back, history.roll_back])(chance)
        history.check()
