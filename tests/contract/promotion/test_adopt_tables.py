"""The part of the tables' port that adopts: in memory and on Delta alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import CommitKind, LoadType, MoveKind
from lakeguard_sdk.errors import BaseChanged
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.fakes.killed_at import dying_at, meanwhile
from tests.support.lakes.foreign_tables import foreign_numbers
from tests.support.lakes.lakes import DeltaLake, Lake, MemoryLake

SCHEMA = TableSchema(columns=(Column(name="n", type="long"),))


@pytest.fixture(params=[MemoryLake, DeltaLake])
def lake(request: pytest.FixtureRequest) -> Lake:
    made: Lake = request.param()
    return made


@pytest.fixture
def location(lake: Lake, tmp_path: Path) -> str:
    """A table that somebody made, with one number in it."""
    if isinstance(lake, MemoryLake):
        place = str(tmp_path / "numbers")
        lake.memory.make_foreign(place, SCHEMA)
    else:
        place = foreign_numbers(tmp_path, [])
    lake.write_foreign(place, [7])
    return place


def intent(lake: Lake, location: str, seq: int = 1, **more: object) -> Intent:
    fields: dict[str, object] = {
        "intent_id": f"int_{seq}",
        "kind": MoveKind.ADOPTION,
        "dataset": "bronze.numbers",
        "dataset_id": "ds_1",
        "run_id": f"run_{seq}",
        "decision_id": f"dec_{seq}",
        "seq": seq,
        "location": location,
        "table_id": lake.tables.origin(location).table_id,
        "base_commit": lake.tables.head_version(location),
        "table_schema": SCHEMA,
    }
    return Intent(**{**fields, **more})


def test_it_tells_what_is_there(lake: Lake, location: str) -> None:
    table = lake.tables.examine(location)
    assert (table.commit, table.rows, table.seq) == (1, 1, None)
    assert (table.table_schema, table.partition_by) == (SCHEMA, ())
    assert [file.path for file in table.files] == list(lake.files(location, 1))
    origin = lake.tables.origin(location)
    assert (origin.table_id, origin.dataset_id) == (table.table_id, None)


def test_an_adoption_is_one_commit_that_shows_the_same(lake: Lake, location: str) -> None:
    landed = lake.tables.adopt(intent(lake, location))
    assert landed == 2
    commit = lake.tables.commit_at(location, landed)
    assert commit is not None
    assert commit.author is not None
    assert (commit.author.kind, commit.seq, commit.adds) == (CommitKind.ADOPT, 1, ())
    assert lake.numbers(location, landed) == Counter([7])
    assert lake.tables.keeps_properties(location, landed)
    assert lake.tables.examine(location).seq == 1


def test_a_publish_takes_the_next_number(lake: Lake, location: str) -> None:
    lake.tables.adopt(intent(lake, location))
    staged = lake.stage(location, "runs/run_2/part.parquet", [8])
    kind, load = MoveKind.PUBLISH, LoadType.APPEND
    lake.publish(intent(lake, location, 2, kind=kind, load=load, adds=(staged,)))
    assert lake.numbers(location, 3) == Counter([7, 8])
    back = intent(lake, location, 3, kind=MoveKind.ROLLBACK, target_commit=2)
    assert lake.numbers(location, lake.tables.restore(back)) == Counter([7])


def test_what_came_in_between_refuses_it(lake: Lake, location: str) -> None:
    early = intent(lake, location)
    lake.write_foreign(location, [8])
    with pytest.raises(BaseChanged):
        lake.tables.adopt(early)
    late = intent(lake, location)
    with (
        meanwhile("adopt.before_commit", lambda: lake.write_foreign(location, [9])),
        pytest.raises(BaseChanged),
    ):
        lake.tables.adopt(late)
    assert lake.tables.examine(location).seq is None


def test_a_fence_takes_the_first_number_on_a_table_of_others(lake: Lake, location: str) -> None:
    dead = intent(lake, location)
    fence = lake.tables.fence(dead)
    assert fence.author is not None
    assert (fence.author.kind, fence.seq) == (CommitKind.FENCE, 1)
    with pytest.raises(BaseChanged):
        lake.tables.adopt(dead)
    assert lake.tables.adopt(intent(lake, location, 2)) == 3
    assert lake.numbers(location, 3) == Counter([7])


def test_a_fence_that_comes_too_late_finds_the_adoption(lake: Lake, location: str) -> None:
    made = intent(lake, location)
    with dying_at("adopt.committed"):
        lake.tables.adopt(made)
    holder = lake.tables.fence(made)
    assert holder.author is not None
    assert (holder.author.kind, holder.version) == (CommitKind.ADOPT, 2)
