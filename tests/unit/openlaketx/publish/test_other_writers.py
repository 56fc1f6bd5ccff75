"""Nothing of another writer is absorbed, whenever it comes, and nothing of it is lost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BaseChanged, MoveError
from openlaketx.publish import commit_publish
from tests.support.fakes.killed_at import meanwhile
from tests.unit.openlaketx.governed import Governed

FULL, APPEND = LoadType.FULL, LoadType.APPEND


@pytest.fixture
def table(tmp_path: Path) -> Governed:
    """Two published files: commit 2, move 2."""
    table = Governed.at(tmp_path)
    for number in (1, 2):
        staged = table.stage(f"runs/run_{number}/a.parquet", [number])
        table.published(commit_publish(table.intent(staged)))
    return table


def append(table: Governed) -> None:
    table.write_foreign([66])


def delete(table: Governed) -> None:
    table.handle().delete("n = 1")


def alter(table: Governed) -> None:
    table.handle().alter.set_table_properties({"delta.checkpointInterval": "11"})


def restore(table: Governed) -> None:
    table.handle().restore(1)


def compact(table: Governed) -> None:
    table.handle().optimize.compact()


def fence(table: Governed) -> None:
    table.fence(3)


CHANGES = [append, delete, alter, restore]


@pytest.mark.parametrize("load", [FULL, APPEND])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_since_the_base_is_refused(
    table: Governed, change: Callable[[Governed], None], load: LoadType
) -> None:
    intent = table.intent(table.stage("runs/run_3/a.parquet", [3]), load=load)
    change(table)
    before = table.numbers()
    with pytest.raises(MoveError):
        commit_publish(intent)
    assert table.numbers() == before


@pytest.mark.parametrize("load", [FULL, APPEND])
@pytest.mark.parametrize("change", [*CHANGES, compact, fence])
def test_a_change_between_the_checks_and_the_commit_wins(
    table: Governed, change: Callable[[Governed], None], load: LoadType
) -> None:
    intent = table.intent(table.stage("runs/run_3/a.parquet", [3]), load=load)
    with (
        meanwhile("publish.before_commit", lambda: change(table)),
        pytest.raises(BaseChanged) as reported,
    ):
        commit_publish(intent)
    assert reported.value.retryable
    assert 3 not in table.numbers()
    assert table.numbers() >= Counter([2]) or change is restore


@pytest.mark.parametrize("load", [FULL, APPEND])
def test_a_compaction_is_not_rebased_over(table: Governed, load: LoadType) -> None:
    intent = table.intent(table.stage("runs/run_3/a.parquet", [3]), load=load)
    compact(table)
    with pytest.raises(BaseChanged):
        commit_publish(intent)
    assert table.numbers() == Counter([1, 2])


def test_a_fence_with_the_same_number_ends_the_move(table: Governed) -> None:
    intent = table.intent(table.stage("runs/run_3/a.parquet", [3]))
    table.fence(3)
    with pytest.raises(BaseChanged):
        commit_publish(intent)
    table.published(table.handle().version())
    late = table.intent(table.stage("runs/run_4/a.parquet", [4]))
    commit_publish(late)
    assert table.numbers() == Counter([1, 2, 4])


def test_of_two_publishers_with_one_number_exactly_one_wins(table: Governed) -> None:
    intents = [
        table.intent(table.stage(f"runs/run_{who}/a.parquet", [number]), run_id=who, intent_id=who)
        for who, number in (("three", 3), ("four", 4))
    ]
    at_the_start = threading.Barrier(2)
    outcomes: dict[str, object] = {}

    def publish(number: int) -> None:
        at_the_start.wait()
        try:
            outcomes[intents[number].run_id] = commit_publish(intents[number])
        except BaseChanged as lost:
            outcomes[intents[number].run_id] = lost

    threads = [threading.Thread(target=publish, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [who for who, outcome in outcomes.items() if outcome == 3]
    assert len(winners) == 1
    assert table.numbers() == Counter([1, 2, 3 if winners == ["three"] else 4])


def test_a_full_vacuum_from_an_old_handle_before_the_commit_is_noticed(table: Governed) -> None:
    staged = table.stage("runs/run_3/a.parquet", [3])
    old = DeltaTable(table.location)
    intent = table.intent(staged)
    old.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False, full=True)
    with pytest.raises(MoveError, match="not there"):
        commit_publish(intent)
    assert table.numbers() == Counter([1, 2])
