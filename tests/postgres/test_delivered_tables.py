"""Live tables in PostgreSQL: whole versions, each row once, and nothing that is not ours."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import duckdb
import pytest

from lakeguard_sdk.core.enums import HashStrategy, LoadType, TargetFormat
from lakeguard_sdk.errors import DeliveryFailed, SecretMissing
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.pipeline.after_publish import deliver_or_report
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.delivered_tables import (
    PASSWORD,
    USER,
    Delivery,
    LiveSchema,
)
from tests.support.lakes.delivered_tables import live as live
from tests.support.lakes.plans import schema
from tests.unit.openlaketx.governed import DATASET_ID

EARLY = datetime(1, 1, 1, tzinfo=UTC)
NUMBERS = schema(id="long", s="string")
KEYED = Load(type=LoadType.FULL, keys=("id",))


@pytest.fixture
def delivery(tmp_path: Path, live: LiveSchema) -> Delivery:
    return Delivery(tmp_path, live, NUMBERS, KEYED)


def numbers(*pairs: tuple[int, str | None]) -> list[dict[str, Any]]:
    return [{"id": number, "s": text} for number, text in pairs]


def test_the_marker_names_the_version_and_who_allowed_it(delivery: Delivery) -> None:
    made = delivery.publish(*numbers((1, "a"), (2, None)))
    assert made is not None
    (marker,) = delivery.live.sql(
        "SELECT table_name, dataset, dataset_id, version, commit, run_id, decision_id, rows"
        " FROM {markers}"
    )
    assert marker == (
        "bronze_orders", "bronze.orders", DATASET_ID, 1, 1, "run_1", "dec_1", 2
    )  # fmt: skip
    assert made.table_id == delivery.published.table.table_id
    assert delivery.deliver() is None, "it is delivered already"
    ((comment,),) = delivery.live.sql("SELECT obj_description('{table}'::regclass)")
    assert "live and unversioned" in str(comment)


def test_columns_that_people_add_to_the_markers_are_left_alone(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.live.sql("ALTER TABLE {markers} ADD COLUMN note text DEFAULT 'mine'")
    delivery.publish(*numbers((2, "b")))
    assert delivery.live.sql("SELECT version, note FROM {markers}") == [(2, "mine")]


def test_only_rows_that_differ_are_touched(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a"), (2, "b"), (3, None), (4, "gone")))
    before = dict(delivery.live.sql("SELECT id, xmin::text FROM {table}"))
    delivery.publish(*numbers((1, "a"), (2, "changed"), (3, None), (5, "new")))
    assert sorted(delivery.live.rows()) == [(1, "a"), (2, "changed"), (3, None), (5, "new")]
    after = dict(delivery.live.sql("SELECT id, xmin::text FROM {table}"))
    assert {key for key in after if after[key] == before.get(key)} == {1, 3}


def test_a_key_is_held_once_by_an_index(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a")))
    index = "SELECT indexdef FROM pg_indexes WHERE indexname = 'key_of_bronze_orders'"
    found = delivery.live.sql(f"{index} AND schemaname = '{delivery.live.name}'")
    assert "UNIQUE" in str(found)


def test_a_table_without_keys_is_replaced_whole(tmp_path: Path, live: LiveSchema) -> None:
    delivery = Delivery(tmp_path, live, NUMBERS, Load(type=LoadType.APPEND))
    delivery.publish(*numbers((1, "a"), (1, "a"), (2, None)))
    delivery.publish(*numbers((2, None)), load=LoadType.APPEND)
    assert sorted(live.rows("id")) == [(1,), (1,), (2,), (2,)]


@pytest.mark.parametrize(
    ("load", "key"),
    [
        (Load(type=LoadType.SNAPSHOT, keys=("b", "a")), ["b", "a"]),
        (Load(type=LoadType.SCD2, keys=("a",)), ["a", "valid_from"]),
        (Load(type=LoadType.CDC, keys=("a",), hash=HashStrategy.KEY_HASH), ["key_hash"]),
        (
            Load(type=LoadType.SCD2, keys=("a",), hash=HashStrategy.KEY_HASH),
            ["key_hash", "valid_from"],
        ),
        (Load(type=LoadType.CDC, keys=("later",)), []),
    ],
)
def test_the_key_is_what_the_load_says(
    tmp_path: Path, live: LiveSchema, load: Load, key: list[str]
) -> None:
    declared = schema(a="long", b="string", key_hash="string", valid_from="timestamp")
    delivery = Delivery(tmp_path, live, declared, load)
    row = {"a": 1, "b": "x", "key_hash": "h", "valid_from": EARLY}
    other = {**row, "a": 2, "key_hash": "i"}
    delivery.publish(row, other)
    delivery.publish(row, {**other, "b": "y"})
    assert sorted(live.rows("a, b")) == [(1, "x"), (2, "y")]
    found = live.sql(
        "SELECT attname FROM pg_attribute WHERE attrelid ="
        " (SELECT indexrelid FROM pg_index WHERE indrelid = '{table}'::regclass) ORDER BY attnum"
    )
    assert [name for (name,) in found] == key


def test_other_keys_replace_all_rows_once(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a"), (2, "b")))
    delivery.load = Load(type=LoadType.FULL, keys=("s",))
    delivery.publish(*numbers((1, "a"), (1, "b")))
    assert sorted(delivery.live.rows()) == [(1, "a"), (1, "b")]
    delivery.publish(*numbers((3, "a"), (1, "b")))
    assert sorted(delivery.live.rows()) == [(1, "b"), (3, "a")]


def test_a_version_of_no_rows_empties_the_table(delivery: Delivery) -> None:
    assert delivery.deliver() is None, "nothing is published"
    delivery.publish(*numbers((1, "a")))
    made = delivery.publish()
    assert made is not None
    assert (made.rows, delivery.live.rows()) == (0, [])


def test_a_rollback_is_delivered_by_the_next_run(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.publish(*numbers((1, "bad"), (2, "bad")))
    delivery.published.published = 1
    made = delivery.deliver()
    assert made is not None
    assert (made.version, delivery.live.rows()) == (1, [(1, "a")])
    assert delivery.live.version() == 1


def test_a_column_more_is_added_and_emptied_by_a_rollback(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.published.declared = schema(id="long", s="string", more="decimal(9,2)")
    new = [{"id": 2, "s": "b", "more": Decimal("1.50")}]
    delivery.published.publish(numbers((1, "a")), new)
    delivery.deliver()
    assert sorted(delivery.live.rows()) == [(1, "a", None), (2, "b", Decimal("1.50"))]
    delivery.publish({"id": 1, "s": "a", "more": Decimal("2.50")})
    delivery.published.published = 1
    delivery.deliver()
    assert delivery.live.rows() == [(1, "a", None)]


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        (schema(id="long"), "column s is there and not in the version"),
        (schema(id="double", s="string"), "column id is bigint there and double precision in the"),
    ],
)
def test_any_other_difference_is_refused_by_name(
    delivery: Delivery, declared: TableSchema, given: str
) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.published.declared = declared
    row = {name: value for name, value in {"id": 5, "s": "x"}.items() if name in declared.names}
    with pytest.raises(DeliveryFailed, match=given) as refused:
        delivery.publish(row)
    assert "drop table" in str(refused.value)
    assert (delivery.live.rows(), delivery.live.version()) == ([(1, "a")], 1)
    delivery.live.sql("DROP TABLE {table}")
    assert delivery.deliver() is not None, "the next run creates it again"
    assert delivery.live.rows("id") == [(5,)]


def test_a_table_that_was_dropped_is_delivered_again(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.live.sql("DROP TABLE {table}")
    assert delivery.deliver() is not None
    assert delivery.live.rows() == [(1, "a")]


def test_rows_that_others_changed_are_set_right_by_the_next_version(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a"), (2, "b")))
    delivery.live.sql("UPDATE {table} SET s = 'mine' WHERE id = 1")
    delivery.live.sql("INSERT INTO {table} VALUES (9, 'mine')")
    delivery.publish(*numbers((1, "a"), (2, "b")))
    assert sorted(delivery.live.rows()) == [(1, "a"), (2, "b")]


def test_readers_see_the_version_before_until_all_of_the_next_is_there(
    delivery: Delivery,
) -> None:
    delivery.publish(*numbers((1, "a"), (2, "b")))
    for point, row in (("deliver.staged", (3, "c")), ("deliver.marked", (4, "d"))):
        before, seen = sorted(delivery.live.rows()), []
        with meanwhile(point, lambda seen=seen: seen.append(sorted(delivery.live.rows()))):
            delivery.publish(*numbers(row))
        assert seen == [before]
        assert delivery.live.rows() == [row]


def test_a_column_to_come_keeps_no_reader_waiting_while_rows_are_copied(
    delivery: Delivery,
) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.published.declared = schema(id="long", s="string", more="long")
    seen: list[Any] = []
    with meanwhile("deliver.staged", lambda: seen.append(delivery.live.rows())):
        delivery.publish({"id": 1, "s": "a", "more": 5})
    assert (seen, delivery.live.rows()) == ([[(1, "a")]], [(1, "a", 5)])


def test_a_file_that_is_gone_leaves_the_table_as_it_was(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.published.publish(numbers((2, "b")))
    (file,) = Path(delivery.published.table.location, "runs", "run_2").iterdir()
    file.rename(file.with_suffix(".away"))
    with pytest.raises(duckdb.IOException, match="part-0"):
        delivery.deliver()
    assert (delivery.live.rows(), delivery.live.version()) == ([(1, "a")], 1)
    file.with_suffix(".away").rename(file)
    assert delivery.deliver() is not None
    assert delivery.live.rows() == [(2, "b")]


def test_the_table_of_somebody_else_is_never_touched(delivery: Delivery) -> None:
    schema_name = delivery.live.quoted_name
    delivery.live.sql(f"CREATE SCHEMA {schema_name}")
    delivery.live.sql("CREATE TABLE {table} (id bigint, s text)")
    delivery.live.sql("INSERT INTO {table} VALUES (7, 'precious')")
    delivery.live.sql(f"GRANT ALL ON SCHEMA {schema_name} TO delivery")
    delivery.live.sql("GRANT ALL ON {table} TO delivery")
    with pytest.raises(DeliveryFailed, match="was not created by LakeGuard"):
        delivery.publish(*numbers((1, "a")))
    assert delivery.live.rows() == [(7, "precious")]


def test_the_table_of_another_registry_is_never_touched(delivery: Delivery) -> None:
    delivery.publish(*numbers((1, "a")))
    delivery.live.sql("UPDATE {markers} SET dataset_id = 'ds_of_another'")
    with pytest.raises(DeliveryFailed, match="of another registry"):
        delivery.publish(*numbers((2, "b")))
    assert delivery.live.rows() == [(1, "a")]


@pytest.mark.parametrize("stored", [numbers((1, "a"), (1, "b")), numbers((1, "a"))])
def test_a_key_that_is_not_unique_is_refused(
    delivery: Delivery, stored: list[dict[str, Any]]
) -> None:
    delivery.publish(*numbers((1, "a")))
    with pytest.raises(DeliveryFailed, match=r"two rows have the same key \(id\)"):
        delivery.publish(*stored, *numbers((1, "c")))
    assert (delivery.live.rows(), delivery.live.version()) == ([(1, "a")], 1)


def test_a_row_without_its_key_is_refused(delivery: Delivery) -> None:
    with pytest.raises(DeliveryFailed, match="key column id is NULL in a row"):
        delivery.publish({"id": None, "s": "a"})


def test_a_name_that_postgresql_would_cut_is_refused(tmp_path: Path, live: LiveSchema) -> None:
    name = "é" * 32
    delivery = Delivery(tmp_path, live, schema(**{name: "long"}), Load(type=LoadType.FULL))
    with pytest.raises(DeliveryFailed, match="longer than the 63 bytes"):
        delivery.publish({name: 1})
    other = Delivery(tmp_path / "other", live, NUMBERS, KEYED)
    other.published.publish(numbers((1, "a")))
    with pytest.raises(DeliveryFailed, match=r"key_of_gold_x+ is longer than the 63 bytes"):
        other.deliver(database=live.table("gold_" + "x" * 52))


def test_ids_are_checked_before_they_are_written(
    delivery: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No foreign key reaches from here to the control plane: whoever writes an id asks."""
    table = delivery.published
    run = table.run("run_1")
    monkeypatch.setattr(table, "run", lambda _: run.model_copy(update={"dataset_id": "ds_2"}))
    with pytest.raises(DeliveryFailed, match="belongs to another dataset"):
        delivery.publish(*numbers((1, "a")))
    monkeypatch.setattr(table, "versions", lambda _: [])
    with pytest.raises(DeliveryFailed, match="has no such version"):
        delivery.deliver()
    assert delivery.live.sql("SELECT count(*) FROM {markers}") == [(0,)]


def test_a_secret_that_is_missing_is_named_and_one_that_is_wrong_is_not(
    delivery: Delivery, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("DELIVERY_PASSWORD")
    with pytest.raises(SecretMissing, match="env:DELIVERY_PASSWORD"):
        delivery.publish(*numbers((1, "a")))
    monkeypatch.setenv("DELIVERY_PASSWORD", "wrong-" + PASSWORD)
    reported: list[str] = []
    plan = delivery.published.plan(
        TargetFormat.POSTGRESQL, load=KEYED, database=delivery.live.table()
    )
    reader = cast(Reader, delivery.published)
    deliver_or_report(plan, reader, lambda stage, facts: reported.append(str(facts)))
    deliver_or_report(plan, reader, None)
    assert 'password authentication failed for user "***"' in reported[-1]
    assert "v1 of bronze.orders was not delivered" in caplog.text
    for secret in (f'"{USER}"', PASSWORD):
        assert secret not in caplog.text + str(reported)
