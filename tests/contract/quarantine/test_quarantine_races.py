"""Real processes at once on quarantined rows: each is replayed or discarded, never both."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.errors import BaseChanged, NothingQuarantined, TableBusy
from lakeguard_sdk.model.quarantine import QuarantineSelection, QuarantineState
from lakeguard_sdk.model.run import RunPlan
from tests.contract.quarantine.test_quarantine import balance, in_table
from tests.support.lakes.published_by_hand import shown
from tests.support.lakes.quarantined_by_hand import ByHand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

NEWBORN = multiprocessing.get_context("forkserver")
ROUNDS = 4


def discard_each(folder: str, runs: list[str]) -> None:
    operations = connect(folder).operations
    for run in runs:
        for _ in range(500):
            try:
                operations.discard(NUMBERS, QuarantineSelection(runs=(run,)), "test data")
                break
            except NothingQuarantined:
                break  # it was replayed
            except TableBusy:
                continue


def send_each(folder: str, runs: list[str]) -> None:
    world = ByHand(connect(folder))
    for run in runs:
        try:
            task = world.client.operations.submit_replay(
                NUMBERS, "t", QuarantineSelection(runs=(run,))
            )
            plan = world.open(task)
            if not isinstance(plan, RunPlan):
                continue  # it was discarded
            assert world.decide(plan, [abs(n) for n in world.quarantined_in(plan)]).allowed
        except NothingQuarantined:
            continue
        try:
            world.publish(plan)
        except BaseChanged:
            world.fail(plan)


def test_rows_are_replayed_or_discarded(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    runs = [world.run([-number]).run_id for number in range(1, ROUNDS + 1)]
    processes = [
        NEWBORN.Process(target=discard_each, args=(str(tmp_path), runs)),
        NEWBORN.Process(target=send_each, args=(str(tmp_path), list(reversed(runs)))),
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
    assert [process.exitcode for process in processes] == [0, 0]
    found = {row.run_id: row.state for row in world.client.reader.quarantine(NUMBERS)}
    sent = [run for run, state in found.items() if state is QuarantineState.REPLAYED]
    off = [run for run, state in found.items() if state is QuarantineState.DISCARDED]
    assert sorted([*sent, *off]) == sorted(runs)
    assert shown(tmp_path) == sorted(runs.index(run) + 1 for run in sent)
    assert balance(world) == (ROUNDS, len(sent), 0, len(off), 0)
    world.client.operations.reap()
    assert in_table(tmp_path) == []
    assert world.client.ledger.verify(replay=True).findings == ()
