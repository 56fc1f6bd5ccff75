"""Files and logs that are not those that were published: noticed, shown, refused, undone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

from lakeguard.cli.rendering.status import Badge, badge_of
from lakeguard.state.schema import promotion_current
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.dataset_name import Address
from lakeguard_sdk.core.enums import LoadType, Outcome, RunStatus
from lakeguard_sdk.errors import (
    FileDamaged,
    NothingToUndo,
    VersionDamaged,
)
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.checksum_files import checksum_file
from lakeguard_sdk.storage.file_records import FileRecord, file_damage, footer_digest
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.engine.file_check import check_files, checking_files
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import run_by_hand, shown
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import numbers_project


@pytest.fixture
def client(tmp_path: Path) -> Client:
    numbers_project(tmp_path, LoadType.FULL)
    made = connect(tmp_path)
    for number in (1, 2, 3):
        run_by_hand(made, [number] * 5)
    return made


def table_of(client: Client) -> Path:
    return Path(client.lake) / "bronze" / "numbers"


def file_of(client: Client, version: int) -> Path:
    run = next(row.run_id for row in client.reader.versions(NUMBERS) if row.version == version)
    (file,) = (table_of(client) / "runs" / run).glob("*.parquet")
    return file


def swap(file: Path) -> None:
    """Another file of the same size: same columns, other rows."""
    size = file.stat().st_size
    pq.write_table(pa.table({"n": pa.array([9] * 5, pa.int64())}), file)
    if file.stat().st_size != size:
        data = bytearray(file.read_bytes())
        file.write_bytes((bytes(data) + b"\0" * size)[: size - 8] + data[-8:])
    assert file.stat().st_size == size


def log_of(client: Client, commit: int) -> Path:
    return table_of(client) / "_delta_log" / f"{commit:020d}.json"


def status(client: Client) -> tuple[Badge, str]:
    (found,) = client.reader.status()
    return badge_of(found), found.damage


def promotable(client: Client) -> tuple[bool, str]:
    with client.reader.state.read() as tx:  # type: ignore[attr-defined]
        row = tx.execute(select(promotion_current.c.allowed, promotion_current.c.reason)).one()
    return row.allowed, row.reason


def check(client: Client, version: int) -> None:
    """What every reader of a version does first."""
    found = client.reader.resolve(Address(dataset=NUMBERS, version=version))
    paths = DeltaLake().files(found.location, found.commit)
    with checking_files(client.reader):
        check_files(NUMBERS, found.table_id, found.location, paths)


def test_a_swapped_file_is_noticed_before_it_is_read(client: Client) -> None:
    check(client, 3)
    swap(file_of(client, 3))
    with pytest.raises(FileDamaged, match="not the file that was published"):
        check(client, 3)
    check(client, 2)


def test_a_file_that_nobody_published_is_not_read(client: Client) -> None:
    found = client.reader.resolve(Address(dataset=NUMBERS))
    with (
        checking_files(client.reader),
        pytest.raises(FileDamaged, match="no record of it"),
    ):
        check_files(NUMBERS, found.table_id, found.location, ["runs/run_x/part.parquet"])


@pytest.mark.parametrize("version", [2, 3])
def test_a_wrong_checksum_file_is_damage_until_undo_removes_it(
    client: Client, version: int
) -> None:
    """Spark would not read the file beside it."""
    beside = checksum_file(str(file_of(client, version)))
    beside.write_bytes(b"crc\0\0\0\2\0wrong")
    with pytest.raises(FileDamaged, match=r"its checksum file .* is wrong.*undo removes it"):
        check(client, version)
    (finding,) = client.ledger.verify().findings
    assert beside.name in finding.message
    if version == 3:
        assert status(client)[0] is Badge.DAMAGED
    undone = client.operations.undo(NUMBERS, "a file that nobody needs")
    assert [Path(path).name for path in undone.checksum_files] == [beside.name[1:-4]]
    assert not beside.exists()
    check(client, version)
    assert status(client) == (Badge.OK, "")
    assert client.ledger.verify().findings == ()


def test_only_a_full_hash_finds_forged_pages(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": list(range(1_000))}), file)
    whole = FileRecord(
        path="a.parquet",
        size=file.stat().st_size,
        footer=footer_digest(str(file)),
        sha256=LocalStorage().sha256(str(file)),
    )
    assert file_damage(str(file), whole) is None
    data = bytearray(file.read_bytes())
    data[50] ^= 1
    file.write_bytes(data)
    assert file_damage(str(file), whole.model_copy(update={"sha256": ""})) is None
    assert "its content differs" in str(file_damage(str(file), whole))
    file.write_bytes(data[:-1])
    assert "bytes instead of" in str(file_damage(str(file), whole))


def test_full_hashes_are_a_setting(client: Client) -> None:
    settings = Path(client.lake) / "lakeguard.toml"
    settings.write_text(
        settings.read_text().replace("[env.dev]", '[env.dev]\ncheck_files = "hashes"')
    )
    found = client.reader.resolve(Address(dataset=NUMBERS))
    paths = DeltaLake().files(found.location, found.commit)
    assert [record.sha256 for record in client.reader.file_records(found.table_id, paths)] == [""]
    strict = connect(Path(client.lake))
    (record,) = strict.reader.file_records(found.table_id, paths)
    assert record.sha256


def test_damage_is_shown_until_it_is_gone(client: Client) -> None:
    file = file_of(client, 3)
    content = file.read_bytes()
    assert status(client) == (Badge.OK, "")
    swap(file)
    with pytest.raises(VersionDamaged):
        client.operations.rollback(NUMBERS, 3, "repair")
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "v3 is damaged" in damage
    allowed, reason = promotable(client)
    assert not allowed
    assert "v3 is damaged" in reason
    assert "damaged" in {row.notification.kind for row in client.notifications.rows(Topic.ALERT)}
    file.write_bytes(content)
    assert status(client)[0] is Badge.DAMAGED, "nobody has looked yet"
    client.ledger.verify()
    assert status(client) == (Badge.OK, "")
    assert promotable(client)[0]


def test_verify_records_what_it_finds(client: Client) -> None:
    swap(file_of(client, 3))
    assert client.ledger.verify().findings
    assert status(client)[0] is Badge.DAMAGED
    client.operations.rollback(NUMBERS, 2, "v3 is damaged")
    assert status(client)[0] is Badge.ROLLED_BACK


def test_a_run_that_reads_damage_records_it(client: Client) -> None:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    swap(file_of(client, 3))
    error = FileDamaged(dataset=NUMBERS, path="x", problem="it is another")
    client.runs.fail_run(plan.ticket, Failure(code=error.code, message=str(error)))
    assert status(client)[0] is Badge.DAMAGED


def test_a_commit_without_a_decision_is_shown_and_undone(client: Client) -> None:
    DeltaLake().write_foreign(str(table_of(client)), [7])
    blocked = run_by_hand(client, [4])
    assert blocked.status is RunStatus.BLOCKED
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "lakeguard undo bronze.numbers" in damage
    undone = client.operations.undo(NUMBERS, "somebody wrote to it")
    assert (undone.version, undone.commits, undone.moved) == (3, (), True)
    assert status(client)[1] == ""
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS


@pytest.mark.parametrize(("commit", "lost"), [(0, True), (2, True), (3, False)])
def test_an_altered_or_lost_log_entry_is_written_back(
    client: Client, commit: int, lost: bool
) -> None:
    entry = log_of(client, commit)
    content = entry.read_bytes()
    if lost:
        entry.unlink()
    else:
        entry.write_bytes(content.replace(b'"numRecords\\":5', b'"numRecords\\":6') + b"\n")
    assert client.ledger.verify().findings or commit == 0
    undone = client.operations.undo(NUMBERS, "the log was changed")
    assert undone.commits == (commit,)
    assert entry.read_bytes() == content
    assert client.ledger.verify().findings == ()
    assert status(client) == (Badge.OK, "")
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS


def test_an_altered_commit_is_noticed_whatever_was_changed_in_it(client: Client) -> None:
    """A merge that believed altered statistics would leave out files, and publish keys twice."""
    log = log_of(client, 2)
    honest = log.read_bytes()
    log.write_bytes(honest.replace(b'"dataChange":true', b'"dataChange": true'))
    assert log.read_bytes() != honest
    blocked = run_by_hand(client, [4])
    assert blocked.status is RunStatus.BLOCKED
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "the log of bronze.numbers is damaged: commit 2 was altered" in damage
    assert client.operations.undo(NUMBERS, "the statistics were changed").commits == (2,)
    assert log.read_bytes() == honest
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS


def test_no_undo_brings_a_file_back(client: Client) -> None:
    swap(file_of(client, 3))
    with pytest.raises(VersionDamaged, match="roll back to a whole version"):
        client.operations.undo(NUMBERS, "repair")
    assert status(client)[0] is Badge.DAMAGED


def forge(file: Path) -> None:
    """Another byte in its pages; size and footer stay."""
    data = bytearray(file.read_bytes())
    data[10] ^= 1
    file.write_bytes(data)


def test_forged_pages_stay_damage_until_they_are_gone(client: Client) -> None:
    """Only full hashes find them, so these are compared once damage is known."""
    forge(file_of(client, 3))
    assert client.ledger.verify().findings
    with pytest.raises(VersionDamaged, match="undo restores no data file"):
        client.operations.undo(NUMBERS, "repair")
    with pytest.raises(VersionDamaged):
        client.operations.rollback(NUMBERS, 3, "repair")
    assert status(client)[0] is Badge.DAMAGED
    client.operations.rollback(NUMBERS, 2, "v3 is damaged")
    assert status(client)[0] is Badge.ROLLED_BACK


def test_nothing_is_added_to_a_table_with_forged_pages(tmp_path: Path) -> None:
    numbers_project(tmp_path, LoadType.APPEND)
    client = connect(tmp_path)
    run_by_hand(client, [1])
    forge(file_of(client, 1))
    client.ledger.verify()
    assert "v1 of bronze.numbers is damaged" in refusal(client)


def test_there_may_be_nothing_to_undo(client: Client) -> None:
    with pytest.raises(NothingToUndo):
        client.operations.undo(NUMBERS, "just in case")


def test_rollback_refuses_a_damaged_version(client: Client) -> None:
    swap(file_of(client, 1))
    with pytest.raises(VersionDamaged, match="not the file that was published"):
        client.operations.rollback(NUMBERS, 1, "mistake")
    client.operations.rollback(NUMBERS, 2, "mistake")


# A version that has lost a file, and no other version to go back to.


def only_version(folder: Path, load: LoadType) -> Client:
    numbers_project(folder, load)
    made = connect(folder)
    run_by_hand(made, [1, 2])
    file_of(made, 1).unlink()
    return made


def loaded_as(client: Client, load: LoadType) -> None:
    client.registry.apply(client.registry.plan(numbers_definitions(load)))


def refusal(client: Client) -> str:
    result = run_by_hand(client, [3])
    assert result.status is RunStatus.BLOCKED
    assert result.decision is not None
    (found,) = (c for c in result.decision.ruling.checks if c.outcome is Outcome.FAIL)
    return found.message


def test_a_full_load_replaces_a_version_that_lost_a_file(tmp_path: Path) -> None:
    client = only_version(tmp_path, LoadType.FULL)
    assert client.ledger.verify().findings
    assert status(client)[0] is Badge.DAMAGED
    result = run_by_hand(client, [1, 2])
    assert (result.status, result.version) == (RunStatus.SUCCESS, 2)
    assert shown(tmp_path) == [1, 2]
    assert status(client) == (Badge.OK, "")
    assert promotable(client)[0]


def test_damage_is_recorded_even_if_the_full_load_fails(tmp_path: Path) -> None:
    client = only_version(tmp_path, LoadType.FULL)
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    assert status(client)[0] is Badge.DAMAGED
    client.runs.fail_run(plan.ticket, Failure(code="LG-5001", message="no such file"))
    assert "v1 of bronze.numbers is damaged" in status(client)[1]


def test_other_loads_are_built_again_as_a_full_load(tmp_path: Path) -> None:
    client = only_version(tmp_path, LoadType.APPEND)
    way = (
        "it has no other whole version: set load type FULL, then: lakeguard apply &&"
        " lakeguard run bronze.numbers; then set it back"
    )
    assert refusal(client).endswith(way)
    with pytest.raises(VersionDamaged, match="set load type FULL"):
        client.operations.undo(NUMBERS, "repair")
    with pytest.raises(VersionDamaged, match="set load type FULL"):
        client.operations.rollback(NUMBERS, 1, "repair")
    loaded_as(client, LoadType.FULL)
    assert run_by_hand(client, [1, 2]).status is RunStatus.SUCCESS
    loaded_as(client, LoadType.APPEND)
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert shown(tmp_path) == [1, 2, 3]
    assert status(client) == (Badge.OK, "")


def test_a_whole_version_is_named_if_there_is_one(tmp_path: Path) -> None:
    numbers_project(tmp_path, LoadType.APPEND)
    client = connect(tmp_path)
    for number in (1, 2, 3):
        run_by_hand(client, [number])
    file_of(client, 2).unlink()
    assert refusal(client).endswith(
        'roll back to a whole version: lakeguard rollback bronze.numbers --to v1 --reason "…"'
    ), "v2 and v3 both have the lost file"
    client.operations.rollback(NUMBERS, 1, "v3 lost a file")
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS
    assert shown(tmp_path) == [1, 4]
