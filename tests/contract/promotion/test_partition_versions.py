"""What each version makes of its partitions is on record, and adds up."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import insert

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard.state.schema import partition_versions
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import UnknownVersion
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.model.verification import FindingKind
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    Client,
    dataset,
    project,
    publish,
)

BOTH = pytest.mark.usefixtures("each_state")


def shown(client: Client, version: int | None = None) -> dict[str, tuple[int, int]]:
    """By partition, the version that brought it last and its rows."""
    rows = client.reader.partitions(BRONZE, version)
    return {row.partition: (row.version, row.rows) for row in rows}


@BOTH
def test_a_version_records_the_partitions_that_it_brings_or_replaces(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE))
    publish(client, BRONZE, {"2026-01": [1, 2], "2026-02": [3], None: [9]})
    publish(client, BRONZE, {"2026-02": [4, 5, 6], "a/b=%": [7]})
    assert shown(client) == {
        "month=": (1, 1),
        "month=2026-01": (1, 2),
        "month=2026-02": (2, 3),
        "month=a%2Fb%3D%25": (2, 1),
    }
    assert shown(client, 1) == {
        "month=": (1, 1),
        "month=2026-01": (1, 2),
        "month=2026-02": (1, 1),
    }
    last = next(row for row in client.reader.partitions(BRONZE) if row.version == 2)
    run = next(run for run in client.reader.runs(BRONZE) if run.version == 2)
    (version,) = [row for row in client.reader.versions(BRONZE) if row.version == 2]
    assert (last.run_id, last.schema_hash) == (run.run_id, version.schema_hash)
    assert last.config_hash.startswith("sha256:")
    assert last.location.startswith(f"bronze/flights/runs/{run.run_id}")
    assert last.bytes > 0
    with pytest.raises(UnknownVersion):
        client.reader.partitions(BRONZE, 7)


def test_rows_that_are_added_are_counted_with_those_that_were_there(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE, load=LoadType.APPEND))
    publish(client, BRONZE, {"2026-01": [1, 2], "2026-02": [3]})
    publish(client, BRONZE, {"2026-01": [4]})
    assert shown(client) == {"month=2026-01": (2, 3), "month=2026-02": (1, 1)}


def test_a_partition_that_lost_its_rows_is_shown_no_more(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE, load=LoadType.FULL))
    publish(client, BRONZE, {"2026-01": [1, 2], "2026-02": [3]})
    publish(client, BRONZE, {"2026-02": [3]})
    assert shown(client) == {"month=2026-02": (2, 1)}
    assert shown(client, 1).keys() == {"month=2026-01", "month=2026-02"}


@BOTH
def test_what_is_shown_follows_a_rollback_and_what_is_built_upon_it(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE))
    publish(client, BRONZE, {"2026-01": [1], "2026-02": [2]})
    publish(client, BRONZE, {"2026-01": [3, 3]})
    client.operations.rollback(BRONZE, 1, "wrong")
    assert shown(client) == {"month=2026-01": (1, 1), "month=2026-02": (1, 1)}
    publish(client, BRONZE, {"2026-02": [4, 4]})
    assert shown(client) == {"month=2026-01": (1, 1), "month=2026-02": (3, 2)}
    assert client.ledger.verify().findings == ()


def test_a_window_replaces_the_partitions_that_it_has_rows_of(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE, load=LoadType.APPEND))
    publish(client, BRONZE, {"2026-01": [1], "2026-02": [2]})
    window = Window(column="month", start="2026-02", end="2026-02")
    publish(client, BRONZE, {"2026-02": [8, 9]}, window=window)
    assert shown(client) == {"month=2026-01": (1, 1), "month=2026-02": (2, 2)}


def test_a_table_without_partitions_has_none_on_record(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE, load=LoadType.FULL, by=()))
    publish(client, BRONZE, {"2026-01": [1]})
    assert shown(client) == {}


@BOTH
def test_a_very_long_value_is_told_apart_from_another(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE))
    publish(client, BRONZE, {"long " * 300 + end: [1] for end in ("a", "b")})
    keys = shown(client).keys()
    assert len(keys) == 2
    assert {len(key) for key in keys} == {300}


def test_all_partitions_are_recorded_with_the_first_version_that_records_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = project(tmp_path, dataset(BRONZE))
    with monkeypatch.context() as before:  # as a version of before partitions were recorded
        before.setattr(
            "lakeguard.promotion.publishing.complete_move.partitions_after", lambda *_: None
        )
        publish(client, BRONZE, {"2026-01": [1], "2026-02": [2]})
    assert shown(client) == {}
    publish(client, BRONZE, {"2026-01": [3, 3]})
    assert shown(client) == {"month=2026-01": (2, 2), "month=2026-02": (2, 1)}


def test_partitions_that_do_not_add_up_are_found(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE))
    run = publish(client, BRONZE, {"2026-01": [1], "2026-02": [2]})
    assert client.ledger.verify().findings == ()
    database = open_state(load_settings(tmp_path, None))
    reported = client.reader.partitions(BRONZE)[0]
    fields = reported.model_dump(exclude={"partition"})
    row = {**fields, "partition_key": "month=x", "org_id": "default", "run_id": run.run_id}
    row["dataset_id"] = client.reader.dataset(BRONZE).dataset_id
    with database.write() as connection:
        connection.execute(insert(partition_versions).values(row))
        connection.execute(insert(partition_versions).values({**row, "version": 9}))
    found = [one for one in client.ledger.verify().findings if one.kind is FindingKind.HISTORY]
    database.close()
    assert {one.message for one in found} >= {
        "expected 2 rows, found 3 in its partitions",
    }
    assert any("is of a version that is not there" in one.message for one in found)
