"""One suite for everything that commits to a governed table: in memory and on Delta.

Publishes come from the data plane's committer, fences and restores from the control plane's.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType, MoveKind
from lakeguard_sdk.errors import BaseChanged, ForeignTable
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.fakes.killed_at import Killed, dying_at, meanwhile
from tests.support.lakes.lakes import DeltaLake, Lake, MemoryLake

SCHEMA = TableSchema(columns=(Column(name="n", type="long"),))
PARTS = (Column(name="p", type="string"), Column(name="q", type="date"))
WIDE = TableSchema(columns=(*SCHEMA.columns, *PARTS))


@pytest.fixture(params=[MemoryLake, DeltaLake])
def lake(request: pytest.FixtureRequest) -> Lake:
    made: Lake = request.param()
    return made


class Table:
    """A table under test and the intents on it."""

    def __init__(
        self,
        lake: Lake,
        location: str,
        schema: TableSchema = SCHEMA,
        partition_by: tuple[str, ...] = (),
    ) -> None:
        self.lake, self.location, self.names = lake, location, count()
        self.table_id = lake.tables.ensure("ds_1", location, schema, partition_by)

    def intent(self, seq: int, base: int, numbers: list[int], **more: object) -> Intent:
        name = f"int_{seq}_{next(self.names)}"
        staged = (
            (self.lake.stage(self.location, f"runs/{name}/part.parquet", numbers),)
            if numbers
            else ()
        )
        fields: dict[str, object] = {
            "intent_id": name,
            "kind": MoveKind.PUBLISH,
            "dataset": "bronze.numbers",
            "dataset_id": "ds_1",
            "run_id": f"run_{name}",
            "decision_id": f"dec_{name}",
            "seq": seq,
            "location": self.location,
            "table_id": self.table_id,
            "base_commit": base,
            "load": LoadType.APPEND,
            "table_schema": SCHEMA,
            "adds": staged,
        }
        return Intent(**{**fields, **more})

    def restore_intent(self, seq: int, base: int, target: int) -> Intent:
        return self.intent(seq, base, [], kind=MoveKind.ROLLBACK, load=None, target_commit=target)

    def shows(self, version: int | None = None) -> Counter[int]:
        head = self.lake.tables.head_version(self.location)
        return self.lake.numbers(self.location, head if version is None else version)


@pytest.fixture
def table(lake: Lake, tmp_path: Path) -> Table:
    return Table(lake, str(tmp_path / "bronze" / "numbers"))


def test_a_new_table_is_empty_at_seq_zero_and_found_again(table: Table) -> None:
    first = table.lake.tables.commit_at(table.location, 0)
    assert first is not None
    assert (first.seq, first.table_id) == (0, table.table_id)
    assert table.lake.tables.ensure("ds_1", table.location, SCHEMA) == table.table_id
    assert table.shows() == Counter()


def test_a_table_of_another_dataset_is_refused(table: Table) -> None:
    with pytest.raises(ForeignTable):
        table.lake.tables.ensure("ds_2", table.location, SCHEMA)


def test_how_a_table_is_partitioned_is_settled_when_it_is_created(
    lake: Lake, tmp_path: Path
) -> None:
    location = str(tmp_path / "bronze" / "parts")
    made = lake.tables.ensure("ds_1", location, WIDE, ("p", "q"))
    assert lake.tables.ensure("ds_1", location, WIDE, ("p", "q")) == made
    first = lake.tables.commit_at(location, 0)
    assert first is not None
    assert first.partition_by == ("p", "q")
    for other in ((), ("p",), ("q", "p")):
        with pytest.raises(ForeignTable):
            lake.tables.ensure("ds_1", location, WIDE, other)


def test_the_log_tells_the_partition_of_every_file(lake: Lake, tmp_path: Path) -> None:
    table = Table(lake, str(tmp_path / "bronze" / "parts"), WIDE, ("p", "q"))
    values = {"p": "a/b %41=é", "q": None}
    intent = table.intent(1, 0, [1], table_schema=WIDE, partition_by=("p", "q"))
    adds = tuple(file.model_copy(update={"partition": values}) for file in intent.adds)
    landed = lake.publish(intent.model_copy(update={"adds": adds}))
    commit = lake.tables.commit_at(table.location, landed)
    assert commit is not None
    assert [file.partition for file in commit.added] == [values]
    assert commit.partition_by is None
    lake.tables.fence(table.intent(2, landed, [], table_schema=WIDE, partition_by=("p", "q")))
    back = lake.tables.restore(table.restore_intent(3, landed + 1, 0))
    assert table.shows() == Counter()
    lake.tables.restore(table.restore_intent(4, back, landed))
    assert table.shows() == Counter([1])


def test_publishes_follow_each_other(table: Table) -> None:
    assert table.lake.publish(table.intent(1, 0, [1, 2])) == 1
    assert table.lake.publish(table.intent(2, 1, [3])) == 2
    assert table.shows() == Counter([1, 2, 3])
    full = table.intent(3, 2, [9], load=LoadType.FULL, removes=table.lake.files(table.location, 2))
    assert table.lake.publish(full) == 3
    assert table.shows() == Counter([9])
    assert table.shows(2) == Counter([1, 2, 3]), "an older version stays readable"


@pytest.mark.parametrize("seq", [1, 3])
def test_a_wrong_number_is_refused(table: Table, seq: int) -> None:
    table.lake.publish(table.intent(1, 0, [1]))
    with pytest.raises(BaseChanged):
        table.lake.publish(table.intent(seq, 1, [2]))
    assert table.shows() == Counter([1])


def test_foreign_data_since_the_base_is_never_absorbed(table: Table) -> None:
    table.lake.write_foreign(table.location, [666])
    with pytest.raises(BaseChanged):
        table.lake.publish(table.intent(1, 0, [1]))
    assert table.shows() == Counter([666])


def test_a_foreign_commit_between_look_and_commit_wins(table: Table) -> None:
    def stranger() -> None:
        table.lake.write_foreign(table.location, [666])

    with meanwhile("publish.before_commit", stranger), pytest.raises(BaseChanged):
        table.lake.publish(table.intent(1, 0, [1]))
    assert table.shows() == Counter([666])


def test_a_fence_ends_an_intent_for_ever(table: Table) -> None:
    intent = table.intent(1, 0, [1])
    fence = table.lake.tables.fence(intent)
    assert fence.author is not None
    assert (fence.seq, fence.author.kind, fence.data_changing) == (1, "fence", False)
    with pytest.raises(BaseChanged):
        table.lake.publish(intent)
    assert table.lake.tables.fence(intent) == fence, "fencing again finds the fence"
    assert table.lake.publish(table.intent(2, 0, [2])) == 2, "a fence changes no data"


def test_a_fence_that_comes_late_finds_the_publish(table: Table) -> None:
    intent = table.intent(1, 0, [1])
    landed = table.lake.publish(intent)
    holder = table.lake.tables.fence(intent)
    assert holder.version == landed
    assert holder.author is not None
    assert holder.author.kind == "publish"


def test_a_fence_in_the_last_moment_wins(table: Table) -> None:
    intent = table.intent(1, 0, [1])
    with (
        meanwhile("publish.before_commit", lambda: keep(table.lake.tables.fence(intent))),
        pytest.raises(BaseChanged),
    ):
        table.lake.publish(intent)
    assert table.shows() == Counter()


def test_a_fence_gets_past_a_stranger(table: Table) -> None:
    intent = table.intent(1, 0, [1])
    with meanwhile("fence.before_commit", lambda: table.lake.write_foreign(table.location, [666])):
        fence = table.lake.tables.fence(intent)
    assert fence.seq == 1
    assert fence.version == 2


def test_a_restore_shows_the_target_again(table: Table) -> None:
    first = table.lake.publish(table.intent(1, 0, [1]))
    table.lake.publish(table.intent(2, 1, [2]))
    landed = table.lake.tables.restore(table.restore_intent(3, 2, first))
    assert table.shows() == Counter([1])
    tables = table.lake.tables
    assert tables.files_at(table.location, landed) == tables.files_at(table.location, first)
    assert tables.keeps_properties(table.location, landed)
    assert table.lake.publish(table.intent(4, landed, [4])) == landed + 1
    assert table.shows() == Counter([1, 4])


def test_a_restore_undoes_a_stranger(table: Table) -> None:
    first = table.lake.publish(table.intent(1, 0, [1]))
    table.lake.write_foreign(table.location, [666])
    table.lake.tables.restore(table.restore_intent(2, first + 1, first))
    assert table.shows() == Counter([1])


def test_a_restore_is_refused_on_another_head_than_it_saw(table: Table) -> None:
    first = table.lake.publish(table.intent(1, 0, [1]))
    table.lake.publish(table.intent(2, 1, [2]))
    intent = table.restore_intent(3, 2, first)
    with (
        meanwhile("restore.before_commit", lambda: table.lake.write_foreign(table.location, [666])),
        pytest.raises(BaseChanged),
    ):
        table.lake.tables.restore(intent)
    with pytest.raises(BaseChanged):
        table.lake.tables.restore(intent)
    assert table.shows() == Counter([1, 2, 666])


@pytest.mark.parametrize("point", ["publish.before_commit", "publish.committed"])
def test_a_publisher_that_dies_leaves_all_or_nothing(table: Table, point: str) -> None:
    intent = table.intent(1, 0, [1])
    with dying_at(point):
        table.lake.publish(intent)
    assert table.shows() == (Counter() if point == "publish.before_commit" else Counter([1]))
    holder = table.lake.tables.fence(intent)
    assert holder.author is not None
    assert holder.author.kind == ("fence" if point == "publish.before_commit" else "publish")


def keep(_: object) -> None:
    """An action whose answer nobody needs."""


def test_dying_is_not_an_exception() -> None:
    assert not issubclass(Killed, Exception)
