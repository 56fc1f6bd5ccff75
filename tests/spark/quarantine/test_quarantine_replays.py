"""Replay of quarantined rows: rows that pass are published, the others remain quarantined."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantineFile
from tests.support.lakes.quarantining_tables import SiftedTable

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
COLUMNS = {"id": "long", "amount": "long", "note": "string"}
STRICT, LAX = {"amount": "ge(amount, value=0)"}, {"amount": "ge(amount, value=-5)"}
APPEND = Load(type=LoadType.APPEND)
BY_KEY = Load(type=LoadType.INCREMENTAL, keys=("id",))


def row(number: int, amount: int, note: str = "x") -> dict[str, object]:
    return {"id": number, "amount": amount, "note": note}


def replay_build(things: SiftedTable) -> QuarantineBuild:
    """Replay of what the last run quarantined."""
    run_id = things.evidence.run_id
    return QuarantineBuild(
        files=tuple(
            QuarantineFile(
                run_id=run_id, rule_id=f.rule_id, path=f.path, rows=f.rows, sha256=f.sha256
            )
            for f in things.quarantined.files
        )
    )  # fmt: skip


def quarantined(folder: Path, load: Load = APPEND) -> SiftedTable:
    things = SiftedTable(folder, load, COLUMNS, STRICT)
    things.land(row(1, 1), row(2, -3), row(3, -9))
    things.run()
    assert things.filed() == {"amount": [2, 3]}
    things.runs.build = replay_build(things)
    return things


@pytest.mark.parametrize("load", [APPEND, BY_KEY], ids=str)
def test_what_passes_now_is_published_and_the_rest_keeps_its_time(
    tmp_path: Path, load: Load
) -> None:
    things = quarantined(tmp_path, load)
    (before,) = things.quarantined.files
    things.say(LAX)
    assert things.run().status is RunStatus.SUCCESS
    assert things.shown("id", "amount", "note") == [(1, 1, "x"), (2, -3, "x")]
    (after,) = things.quarantined.files
    assert things.filed() == {"amount": [3]}
    assert after.first_seen == before.first_seen
    assert after.path != before.path
    assert things.before("amount") == (1, 2)
    assert (things.evidence.rows, things.evidence.position) == (1, None)
    assert [file.rows for file in things.evidence.files] == [1]


@pytest.mark.parametrize("load", [APPEND, BY_KEY], ids=str)
def test_where_all_rows_fail_again_there_is_no_version(tmp_path: Path, load: Load) -> None:
    things = quarantined(tmp_path, load)
    reported = len(things.runs.evidence)
    ended = things.run()
    assert (ended.status, ended.version) == (RunStatus.SUCCESS, None)
    assert len(things.runs.evidence) == reported
    assert things.shown("id") == [1]


def test_rows_that_change_nothing_are_judged_all_the_same(tmp_path: Path) -> None:
    things = quarantined(tmp_path, BY_KEY)
    replay = things.runs.build
    things.say(LAX | {"amount": "ge(amount, value=-10)"})
    things.run()
    things.runs.build = replay
    assert things.run().version == 3
    assert things.evidence.changes is not None
    assert things.evidence.changes.unchanged == 2


def test_the_transform_of_the_target_is_not_applied_twice(tmp_path: Path) -> None:
    things = SiftedTable(tmp_path, APPEND, COLUMNS, STRICT)
    things.runs.transform = "SELECT id, amount - 2 AS amount, note FROM batch"
    things.land(row(1, 2), row(2, 1))
    things.run()
    assert things.filed() == {"amount": [2]}
    things.runs.build = replay_build(things)
    things.say(LAX)
    things.run()
    assert things.shown("id", "amount") == [(1, 0), (2, -1)]


def test_a_file_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    things = quarantined(tmp_path)
    (file,) = things.quarantined.files
    place = tmp_path / file.path
    place.write_bytes(place.read_bytes() + b"x")
    assert things.run().status is RunStatus.FAILED
    assert f"{file.path} is not the file that was quarantined" in things.runs.failures[0].message
    place.unlink()
    assert things.run().status is RunStatus.FAILED
    assert file.path in things.runs.failures[1].message


def kept_beside(other: SiftedTable, things: SiftedTable) -> QuarantineBuild:
    """Rows that another table's run quarantined, in the lake of this one."""
    held = replay_build(other)
    for file in held.files:
        (things.folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (things.folder / file.path).hardlink_to(other.folder / file.path)
    return held


def test_rows_of_before_a_column_came_have_none_of_it(tmp_path: Path) -> None:
    old = quarantined(tmp_path / "old")
    things = SiftedTable(tmp_path / "new", APPEND, {**COLUMNS, "more": "string"}, STRICT)
    things.land({**row(4, -1), "more": "m"})
    things.run()
    files = (*replay_build(things).files, *kept_beside(old, things).files)
    things.runs.build = QuarantineBuild(files=files)
    things.say(LAX)
    things.run()
    assert things.shown("id", "more") == [(2, None), (4, "m")]


def test_rows_of_a_column_that_had_another_type_go_apart(tmp_path: Path) -> None:
    things = quarantined(tmp_path / "things")
    other = SiftedTable(tmp_path / "other", APPEND, {**COLUMNS, "note": "long"}, STRICT)
    other.land(row(4, -1) | {"note": 7})
    other.run()
    held = kept_beside(other, things)
    things.runs.build = QuarantineBuild(files=(*replay_build(things).files, *held.files))
    assert things.run().status is RunStatus.FAILED
    reported = things.runs.failures[0].message
    assert "column note is string in some of the rows and long in others" in reported
    assert f"--run {held.files[0].run_id}" in reported
