"""Maintenance over the ports of a control plane: what goes, what stays, and that it is told."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import FilesRemoved, MaintenanceRefused, TableBusy
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.model.table_operations import CompactionPlan, Removal, RemovalKind
from lakeguard_sdk.model.verification import FindingKind
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import (
    compact_by_hand,
    evidence_of,
    run_by_hand,
    shown,
)
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")

AT_ONCE = "retention_days = 0\ninspection_days = 0\n"
DAY = 86_400


def project(folder: Path, load: LoadType, settings: str, versions: int) -> Client:
    numbers_project(folder, load)
    file = folder / "lakeguard.toml"
    file.write_text(f"{file.read_text()}[env.dev.maintenance]\n{settings}")
    client = connect(folder)
    for number in range(1, versions + 1):
        run_by_hand(client, [number])
    return client


def table_of(folder: Path) -> Path:
    return folder / "bronze" / "numbers"


def files_of(folder: Path, commit: int) -> set[str]:
    return set(DeltaLake().files(str(table_of(folder)), commit))


def on_disk(folder: Path) -> set[str]:
    root = table_of(folder)
    return {str(path.relative_to(root)) for path in root.glob("runs/**/*.parquet")}


def maintained(client: Client, *, dry_run: bool = False) -> dict[RemovalKind, Removal]:
    found = client.operations.maintain(NUMBERS, dry_run=dry_run)
    assert found.done is not dry_run
    return {removal.kind: removal for removal in found.removals}


def open_run(client: Client, numbers: list[int]) -> RunPlan:
    """A run that has staged its files."""
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, numbers))
    return plan


def assert_proved(client: Client) -> None:
    assert client.ledger.verify(replay=True).findings == ()


# -- versions ------------------------------------------------------------------------------------


def test_kept_versions_stay_whole(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 4)
    old, kept = files_of(tmp_path, 1) | files_of(tmp_path, 2), files_of(tmp_path, 3)
    removal = maintained(client)[RemovalKind.VERSIONS]
    assert (set(removal.paths), removal.versions) == (old, (1, 2))
    assert on_disk(tmp_path) == kept | files_of(tmp_path, 4)
    assert shown(tmp_path) == [4]
    assert_proved(client)
    client.operations.rollback(NUMBERS, 3, "one of the last two stays")
    assert shown(tmp_path) == [3]
    assert_proved(client)


def test_a_version_whose_files_went_says_so(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 3)
    maintained(client)
    with pytest.raises(
        FilesRemoved, match=r"v1: maintenance removed .*; still available: v2$"
    ) as reported:
        client.operations.rollback(NUMBERS, 1, "x")
    assert reported.value.next_step == 'lakeguard rollback bronze.numbers --to v2 --reason "…"'
    removed = {row.version: row.removed for row in client.reader.versions(NUMBERS)}
    assert removed == {1: True, 2: False, 3: False}


def test_where_no_version_is_left_a_run_is_the_way_on() -> None:
    error = FilesRemoved(dataset=NUMBERS, version=1, whole=())
    assert str(error).endswith("no other version is left")
    assert error.next_step == "lakeguard run bronze.numbers"


def test_within_retention_nothing_goes(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, "retention_days = 1\n", 4)
    assert maintained(client) == {}
    assert len(on_disk(tmp_path)) == 4


def test_what_was_merged_goes_and_the_version_stays(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.APPEND, AT_ONCE, 4)
    last = files_of(tmp_path, 4) - files_of(tmp_path, 3)
    compact_by_hand(client)
    assert_proved(client)
    removal = maintained(client)[RemovalKind.VERSIONS]
    assert (set(removal.paths), removal.versions) == (last, ()), "v3 needs all the others"
    assert_proved(client)
    run_by_hand(client, [5])
    client.operations.rollback(NUMBERS, 4, "as it was merged")
    assert shown(tmp_path) == [1, 2, 3, 4]
    assert_proved(client)


def test_a_dry_run_only_says_what_would_go(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 4)
    reported = maintained(client, dry_run=True)
    assert len(on_disk(tmp_path)) == 4
    assert not any(row.removed for row in client.reader.versions(NUMBERS))
    assert maintained(client) == reported
    assert maintained(client) == {}, "nothing is left to do"


def test_what_a_running_run_began_from_stays(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 1)
    plan = open_run(client, [9])
    for number in (2, 3, 4):
        run_by_hand(client, [number])
    removal = maintained(client)[RemovalKind.VERSIONS]
    assert set(removal.paths) == files_of(tmp_path, 2)
    client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gone"))
    assert set(maintained(client)[RemovalKind.VERSIONS].paths) == files_of(tmp_path, 1)


# -- staging -------------------------------------------------------------------------------------


def test_staging_of_an_ended_run_goes_after_the_inspection(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.APPEND, AT_ONCE, 1)
    plan = open_run(client, [9])
    assert maintained(client) == {}, "it runs"
    client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gone"))
    removal = maintained(client)[RemovalKind.STAGING]
    assert removal.runs == (plan.ticket.run_id,)
    assert not (table_of(tmp_path) / plan.staging).exists()
    assert shown(tmp_path) == [1]
    assert_proved(client)


def test_staging_stays_to_be_looked_at(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.APPEND, "inspection_days = 7\n", 1)
    plan = open_run(client, [9])
    client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gone"))
    assert maintained(client) == {}


def store_malformed(folder: Path, run_id: str, dataset: str = "bronze/numbers") -> Path:
    file = folder / "quarantine" / dataset / f"execution_id={run_id}" / "part-0.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"n": "x", "lg_reason": "n is no long"}')
    return file


@pytest.mark.parametrize("name", ["numbers", "the_name_it_had"])
def test_rows_quarantined_go_after_the_inspection(tmp_path: Path, name: str) -> None:
    client = project(tmp_path, LoadType.APPEND, AT_ONCE, 1)
    plan = open_run(client, [9])
    quarantined = store_malformed(tmp_path, plan.ticket.run_id, f"bronze/{name}")
    other = store_malformed(tmp_path, "run_of_another")
    assert maintained(client) == {}, "it runs"
    client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gone"))
    assert RemovalKind.QUARANTINE in maintained(client, dry_run=True)
    assert quarantined.exists()
    removal = maintained(client)[RemovalKind.QUARANTINE]
    assert removal.runs == (plan.ticket.run_id,)
    assert removal.paths == (str(quarantined.relative_to(tmp_path)),)
    assert (quarantined.parent.exists(), other.exists()) == (False, True)
    assert_proved(client)


def test_rows_quarantined_stay_to_be_looked_at(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.APPEND, "inspection_days = 7\n", 1)
    plan = open_run(client, [9])
    quarantined = store_malformed(tmp_path, plan.ticket.run_id)
    client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gone"))
    assert maintained(client) == {}
    assert quarantined.exists()


def test_of_an_unknown_run_only_old_files_go(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.APPEND, "inspection_days = 7\n", 1)
    for name, age in (("run_new", 0), ("run_old", 8 * DAY)):
        file = table_of(tmp_path) / "runs" / name / "part.parquet"
        file.parent.mkdir()
        file.write_bytes(b"x")
        os.utime(file, (time.time() - age,) * 2)
    removal = maintained(client)[RemovalKind.STAGING]
    assert (removal.runs, removal.paths) == (("run_old",), ("runs/run_old/part.parquet",))


def test_what_is_not_staging_is_not_touched(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 4)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "part.parquet").write_bytes(b"x")
    root = table_of(tmp_path)
    (root / "notes.txt").write_text("mine")
    (root / "runs" / "run_link").symlink_to(outside)
    (root / "runs" / "run_file").mkdir()
    (root / "runs" / "run_file" / "part.parquet").symlink_to(outside / "part.parquet")
    maintained(client)
    assert (root / "notes.txt").exists()
    assert (outside / "part.parquet").exists()
    assert (root / "runs" / "run_file" / "part.parquet").is_symlink()


# -- when not ------------------------------------------------------------------------------------


def test_a_table_that_is_being_moved_is_left_alone(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 4)
    plan = open_run(client, [9])
    client.runs.begin_move(plan.ticket)
    with pytest.raises(TableBusy):
        client.operations.maintain(NUMBERS)
    assert len(on_disk(tmp_path)) == 5


def test_a_table_that_is_being_compacted_is_left_alone(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.APPEND, AT_ONCE, 4)
    compact_by_hand(client)
    run_by_hand(client, [5])
    opened = client.runs.open_compaction(
        client.operations.submit_compaction(NUMBERS, "test"), this_process("test")
    )
    assert isinstance(opened, CompactionPlan)
    with pytest.raises(TableBusy):
        client.operations.maintain(NUMBERS)
    client.runs.fail_run(opened.ticket, Failure(code="LG-0000", message="gone"))
    assert RemovalKind.VERSIONS in maintained(client)


def test_a_table_with_a_rogue_commit_is_left_alone(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 4)
    DeltaLake().write_foreign(str(table_of(tmp_path)), [666])
    with pytest.raises(MaintenanceRefused, match="without a decision"):
        client.operations.maintain(NUMBERS)
    assert len(on_disk(tmp_path)) == 4


def test_a_log_with_a_gap_is_left_alone(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 12)
    (table_of(tmp_path) / "_delta_log" / f"{2:020d}.json").unlink()
    assert DeltaTable(str(table_of(tmp_path))).version() == 12, "read from its checkpoint"
    with pytest.raises(MaintenanceRefused, match="log is not whole"):
        client.operations.maintain(NUMBERS)
    assert len(on_disk(tmp_path)) == 12


def test_a_dataset_without_a_table_needs_nothing(tmp_path: Path) -> None:
    assert maintained(project(tmp_path, LoadType.FULL, AT_ONCE, 0)) == {}


def test_a_file_that_was_lost_is_told_from_one_that_was_removed(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 4)
    maintained(client)
    (lost,) = files_of(tmp_path, 3)
    (table_of(tmp_path) / lost).unlink()
    findings = client.ledger.verify().findings
    assert [(item.kind, lost in item.place) for item in findings] == [(FindingKind.FILE, True)]


def test_a_compaction_that_changed_rows_is_found(tmp_path: Path) -> None:
    """Its commit is as approved; only the rows themselves can tell."""
    client = project(tmp_path, LoadType.APPEND, AT_ONCE, 3)
    compact_by_hand(client)
    removed = next(iter(files_of(tmp_path, 1)))
    DeltaLake().stage(str(table_of(tmp_path)), removed, [666])
    given = [item.message for item in client.ledger.verify(replay=True).findings]
    assert any("a compaction that changes rows" in message for message in given)


def _leave(folder: Path, run: str, *names: str) -> list[Path]:
    """Files that a merge, Spark or a killed process leaves in the folder of a run."""
    files = [table_of(folder) / "runs" / run / name for name in names]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")
    return files


def test_what_a_published_run_did_not_publish_is_removed(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 3)
    runs = {row.version: row.run_id for row in client.reader.versions(NUMBERS)}
    files = {path.split("/")[1]: path.rpartition("/") for path in on_disk(tmp_path)}
    left = []
    for version in (1, 3):
        _, _, name = files[runs[version]]
        names = ("incoming/part-0.parquet", "_SUCCESS", f".{name}.crc", "changes/part-1.parquet")
        left.append(_leave(tmp_path, runs[version], *names))
    expired, published = left
    plain = maintained(client, dry_run=True)[RemovalKind.STAGING]
    assert set(plain.runs) == {runs[1], runs[3]}
    maintained(client)
    assert not any(file.exists() for file in expired), "v1 is gone, and all that was beside it"
    incoming, success, checksum, changes = published
    assert not incoming.exists()
    assert not success.exists()
    assert checksum.exists(), "its file is still there"
    assert changes.exists(), "v3 can be measured again"
    assert maintained(client) == {}
    checksum.unlink()  # it is not the file's
    assert client.ledger.verify().findings == ()


def test_what_a_published_run_left_may_be_inspected_for_a_while(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, "retention_days = 0\n", 1)
    (row,) = client.reader.versions(NUMBERS)
    (file,) = _leave(tmp_path, row.run_id, "incoming/part-0.parquet")
    maintained(client)
    assert file.exists()


def test_copies_of_the_owner_file_are_removed(tmp_path: Path) -> None:
    client = project(tmp_path, LoadType.FULL, AT_ONCE, 1)
    client.ledger.sync()
    owner = tmp_path / "_lakeguard" / "default" / "plane.json"
    old, new = (owner.with_name(f".plane.json.{name}") for name in ("0a", "0b"))
    for copy in (old, new):
        copy.write_bytes(owner.read_bytes())
    os.utime(old, (time.time() - DAY,) * 2)
    maintained(client)
    assert not old.exists()
    assert new.exists(), "somebody may be writing it"
    assert owner.exists()
