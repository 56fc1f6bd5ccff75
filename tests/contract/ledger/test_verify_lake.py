"""``verify`` against a lake that somebody wrote to past LakeGuard."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from lakeguard.relay.tables import BATCH, CHAIN, ORDINAL
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.delta_log import PUBLISH_APP, log_file
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.model.verification import FindingKind as Kind
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.checksum_files import checksum_file
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.lakes.verified_lakes import (
    TABLE,
    ProvenLake,
    set_value,
    write_rows,
)
from tests.support.projects.planes import NUMBERS


@pytest.fixture
def lake(copied_lake: ProvenLake) -> ProvenLake:
    return copied_lake


def published_file(lake: ProvenLake) -> Path:
    """The data file of the first version."""
    (name,) = DeltaTable(str(lake.table), version=1).file_uris()
    return Path(name.removeprefix("file://"))


def write_commit(lake: ProvenLake, *actions: dict[str, object]) -> None:
    """The next of the table's commits, by nobody's leave."""
    commit = Path(log_file(str(lake.table), DeltaTable(str(lake.table)).version() + 1))
    commit.write_text("\n".join(map(json.dumps, actions)))


def edit_commit(lake: ProvenLake, version: int, before: str, after: str) -> None:
    commit = Path(log_file(str(lake.table), version))
    assert before in commit.read_text()
    commit.write_text(commit.read_text().replace(before, after))


# ------------------------------------------------------------------------------------- the ledger


def test_the_copy_is_proven_too(lake: ProvenLake) -> None:
    assert lake.found(replay=True) == {}


def test_a_ledger_file_that_is_gone(lake: ProvenLake) -> None:
    file = lake.ledger_files("decisions")[0]
    file.unlink()
    assert lake.found() == {Kind.LEDGER: [f"decisions/{file.name}"]}


def test_a_ledger_table_that_is_gone(lake: ProvenLake) -> None:
    shutil.rmtree(lake.ledger_folder("run_history"))
    assert lake.found() == {Kind.LEDGER: ["run_history"]}


def test_a_ledger_table_whose_log_is_torn(lake: ProvenLake) -> None:
    for file in (lake.ledger_folder("intents") / "_delta_log").iterdir():
        file.write_bytes(b"\0" * 100)
    assert lake.found() == {Kind.LEDGER: ["intents"]}


def test_an_edited_ledger_file(lake: ProvenLake) -> None:
    """Written again with one other value; the batch and the row are named."""
    (file,) = [f for f in lake.ledger_files("decisions") if f.name.endswith("2.parquet")]
    data = pq.read_table(file)
    write_rows(file, set_value(data, "verdict", 0, "BLOCKED"))
    decision = data["decision_id"][0].as_py()
    report = lake.verify()
    found = {finding.kind: finding for finding in report.findings}
    assert {Kind.ROW, Kind.CHAIN} <= set(found) <= {Kind.ROW, Kind.CHAIN, Kind.LEDGER}
    assert found[Kind.ROW].place == f"decisions {decision}"
    assert found[Kind.ROW].message == "verdict is ALLOWED, the ledger has BLOCKED"
    assert found[Kind.CHAIN].place == "batch 2"
    assert f"not as told: decisions {decision}" in found[Kind.CHAIN].message


def test_a_flipped_byte(lake: ProvenLake) -> None:
    """In the middle of every column of a file in turn: none is overlooked."""
    file = lake.ledger_files("decisions")[0]
    whole = file.read_bytes()
    for column in range(0, pq.read_metadata(file).num_columns, 4):
        chunk = pq.read_metadata(file).row_group(0).column(column)
        begin = min(filter(None, (chunk.dictionary_page_offset, chunk.data_page_offset)))
        flipped = bytearray(whole)
        flipped[begin + chunk.total_compressed_size - 2] ^= 0xFF
        file.write_bytes(flipped)
        assert set(lake.found()) & {Kind.LEDGER, Kind.ROW, Kind.CHAIN}, chunk.path_in_schema
    file.write_bytes(whole)
    assert lake.found() == {}


def test_rows_of_no_batch(lake: ProvenLake) -> None:
    row = lake.ledger_rows("decisions").slice(0, 1)
    row = set_value(set_value(row, "decision_id", 0, "dec_mine"), BATCH, 0, 99)
    lake.append_to_ledger("decisions", row)
    assert lake.found() == {Kind.LEDGER: ["decisions"]}


def test_rows_slipped_into_a_batch(lake: ProvenLake) -> None:
    row = lake.ledger_rows("decisions").slice(0, 1)
    batch = row[BATCH][0].as_py()
    lake.append_to_ledger("decisions", set_value(row, "decision_id", 0, "dec_mine"))
    found = lake.found()
    assert found == {Kind.ROW: ["decisions dec_mine"], Kind.CHAIN: [f"batch {batch}"]}


@pytest.mark.parametrize("name", ["documents", "dataset_registry", CHAIN])
@pytest.mark.parametrize("column", [BATCH, ORDINAL])
def test_rows_that_say_no_batch_or_no_place(lake: ProvenLake, name: str, column: str) -> None:
    row = lake.ledger_rows(name).slice(0, 1)
    lake.append_to_ledger(name, set_value(row, column, 0, None))
    assert lake.found() == {Kind.LEDGER: [name]}


def test_a_link_that_says_no_number(lake: ProvenLake) -> None:
    row = lake.ledger_rows(CHAIN).slice(0, 1)
    lake.append_to_ledger(CHAIN, set_value(row, "batch", 0, None))
    assert lake.found() == {Kind.LEDGER: [CHAIN]}


def test_a_row_twice(lake: ProvenLake) -> None:
    row = lake.ledger_rows("run_audit").slice(0, 1)
    lake.append_to_ledger("run_audit", row)
    assert lake.found() == {Kind.ROW: [f"run_audit {row['run_id'][0].as_py()}"]}


def test_a_row_deleted_from_the_ledger(lake: ProvenLake) -> None:
    decision = lake.ledger_rows("decisions")["decision_id"][0].as_py()
    DeltaTable(str(lake.ledger_folder("decisions"))).delete(f"decision_id = '{decision}'")
    assert set(lake.found()) == {Kind.ROW, Kind.CHAIN}


def test_a_link_taken_from_the_ledger(lake: ProvenLake) -> None:
    DeltaTable(str(lake.ledger_folder("audit_chain"))).delete("batch = 2")
    assert lake.found() == {Kind.CHAIN: ["batch 2"]}


def test_an_owner_file_that_is_gone_or_torn(lake: ProvenLake) -> None:
    file = lake.ledger_folder("plane.json")
    file.write_text("{")
    assert lake.found() == {Kind.LEDGER: ["plane.json"]}
    file.unlink()
    assert lake.found() == {Kind.LEDGER: ["plane.json"]}


def test_many_findings_are_counted(lake: ProvenLake) -> None:
    rows = lake.ledger_rows("run_audit")
    lake.append_to_ledger("run_audit", pa.concat_tables([rows] * 20))
    found = lake.verify().findings
    assert len(found) == 51
    assert found[-1].message == f"… and {20 * rows.num_rows - 50} more"


# -------------------------------------------------------------------------------- governed tables


def test_a_direct_append(lake: ProvenLake) -> None:
    write_deltalake(str(lake.table), pa.table({"n": pa.array([666], pa.int64())}), mode="append")
    assert lake.found() == {Kind.COMMIT: [f"{TABLE} commit 6"]}


def test_an_append_that_was_undone(lake: ProvenLake) -> None:
    """The published version is shown again; nothing undecided is."""
    write_deltalake(str(lake.table), pa.table({"n": pa.array([666], pa.int64())}), mode="append")
    lake.client.operations.rollback(NUMBERS, 4, "somebody wrote past us")
    lake.relay.drain()
    assert lake.found() == {}


def test_a_table_that_is_gone(lake: ProvenLake) -> None:
    shutil.rmtree(lake.table / "_delta_log")
    assert lake.found() == {Kind.COMMIT: [TABLE]}


def test_a_commit_that_was_edited(lake: ProvenLake) -> None:
    edit_commit(lake, 2, "publish", "pub1ish")
    assert lake.found() == {Kind.COMMIT: [f"{TABLE} commit 2"]}


def test_a_first_commit_with_another_byte(lake: ProvenLake) -> None:
    file = Path(log_file(str(lake.table), 0))
    file.write_bytes(file.read_bytes() + b"\n")
    assert lake.found() == {Kind.COMMIT: [f"{TABLE} commit 0"]}


def test_a_commit_that_is_gone(lake: ProvenLake) -> None:
    Path(log_file(str(lake.table), 2)).unlink()
    assert f"{TABLE} commit 2" in lake.found()[Kind.COMMIT]


def test_properties_that_were_changed(lake: ProvenLake) -> None:
    table = DeltaTable(str(lake.table))
    table.alter.set_table_properties({"delta.logRetentionDuration": "interval 1 days"})
    assert lake.found() == {Kind.COMMIT: [f"{TABLE} commit 6"]}


def test_a_property_of_their_own_is_neutral(lake: ProvenLake) -> None:
    table = DeltaTable(str(lake.table))
    table.alter.set_table_properties({"delta.dataSkippingNumIndexedCols": "7"})
    assert lake.found() == {}


def test_a_neutral_rewrite_is_no_finding(lake: ProvenLake) -> None:
    done = DeltaTable(str(lake.table)).optimize.compact()
    assert done["numFilesRemoved"] > 1
    assert lake.found() == {}


def test_a_rewrite_that_drops_a_row(lake: ProvenLake) -> None:
    """It says of itself that it changes nothing."""
    DeltaTable(str(lake.table)).optimize.compact()
    commit = Path(log_file(str(lake.table), 6))
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    add = next(action["add"] for action in actions if "add" in action)
    assert add["dataChange"] is False
    file = lake.table / add["path"]
    pq.write_table(pq.read_table(file).slice(1), file)
    add["size"] = file.stat().st_size
    commit.write_text("\n".join(map(json.dumps, actions)))
    (finding,) = lake.verify().findings
    assert (finding.kind, finding.place) == (Kind.COMMIT, f"{TABLE} commit 6")
    assert "expected 5 rows, found 4" in finding.message


@pytest.mark.parametrize(
    ("given", "neutral"),
    [
        (None, True),
        ({"numRecords": 2, "minValues": {"n": 1}, "maxValues": {"n": 2}}, True),
        ({"numRecords": 2, "nullCount": {"n": 0}}, True),
        ({"numRecords": 3}, False),
        ({"numRecords": 2, "minValues": {"n": 2}}, False),
        ({"numRecords": 2, "maxValues": {"n": 1}}, False),
        ({"numRecords": 2, "nullCount": {"n": 2}}, False),
    ],
)
def test_a_rewrite_that_says_something_of_its_rows(
    lake: ProvenLake, given: dict[str, object] | None, neutral: bool
) -> None:
    """The rows are the same, but a reader who believes it skips some."""
    file = published_file(lake)
    shutil.copy(file, lake.table / "again.parquet")
    facts = {"dataChange": False, "partitionValues": {}, "size": file.stat().st_size}
    path = str(file.relative_to(lake.table))
    stats = {} if given is None else {"stats": json.dumps(given)}
    write_commit(
        lake,
        {"commitInfo": {"operation": "OPTIMIZE"}},
        {"remove": {**facts, "path": path, "deletionTimestamp": 0}},
        {"add": {**facts, "path": "again.parquet", "modificationTime": 0, **stats}},
    )
    assert lake.found() == ({} if neutral else {Kind.COMMIT: [f"{TABLE} commit 6"]})


def test_columns_altered_in_the_first_commit(lake: ProvenLake) -> None:
    edit_commit(lake, 0, '\\"n\\"', '\\"m\\"')
    assert lake.found() == {Kind.COMMIT: [f"{TABLE} commit 0"]}


def test_partitions_altered_in_the_first_commit(lake: ProvenLake) -> None:
    edit_commit(lake, 0, '"partitionColumns":[]', '"partitionColumns":["n"]')
    assert lake.found() == {Kind.COMMIT: [f"{TABLE} commit 0"]}


def test_a_checkpoint_of_another_engine_is_no_finding(lake: ProvenLake) -> None:
    DeltaTable(str(lake.table)).create_checkpoint()
    assert lake.found() == {}


@pytest.mark.parametrize(
    ("action", "key", "before", "after"),
    [
        ("metaData", "schemaString", '"n"', '"m"'),
        ("metaData", "schemaString", '"long"', '"integer"'),
        ("add", "stats", "}", ',"minValues":{"n":900}}'),
        ("add", "stats", '"numRecords":', '"numRecords":1'),
        ("add", "path", "runs/", "ruins/"),
    ],
)
def test_a_checkpoint_that_was_altered(
    lake: ProvenLake, action: str, key: str, before: str, after: str
) -> None:
    """Readers begin there; the commits are as they were."""
    DeltaTable(str(lake.table)).create_checkpoint()
    log = lake.table / "_delta_log"
    (file,) = log.glob("*.checkpoint.parquet")
    data = pq.read_table(file)
    rows = data.to_pylist()
    for row in rows:
        if row[action]:
            assert before in row[action][key], row[action][key]
            row[action][key] = row[action][key].replace(before, after)
    pq.write_table(pa.Table.from_pylist(rows, schema=data.schema), file)
    document = json.loads((log / "_last_checkpoint").read_text())
    document = {**document, "sizeInBytes": file.stat().st_size}
    (log / "_last_checkpoint").write_text(json.dumps(document))
    assert lake.found() == {Kind.COMMIT: [f"{TABLE} commit 5"]}


def test_a_commit_that_took_the_number_of_a_move(lake: ProvenLake) -> None:
    """It is recorded, with its hash, as what it is: not what was approved."""
    runs, hand = lake.client.runs, DeltaLake()
    task = lake.client.operations.submit(NUMBERS, "by hand")
    plan = runs.open_run(task, this_process("by hand"))
    assert isinstance(plan, RunPlan)
    runs.submit_schema(plan.ticket, plan.declared)
    runs.submit_evidence(plan.ticket, evidence_of(hand, plan, [8]))
    intent = runs.begin_move(plan.ticket)
    file = published_file(lake)
    path = str(file.relative_to(lake.table))
    facts = {"dataChange": False, "partitionValues": {}, "path": path}
    write_commit(
        lake,
        {"commitInfo": {"operation": "OPTIMIZE"}},
        {"txn": {"appId": PUBLISH_APP, "version": intent.seq}},
        {"remove": {**facts, "size": file.stat().st_size, "deletionTimestamp": 0}},
    )
    result = runs.complete_move(plan.ticket, 6)
    assert result.status is RunStatus.FAILED
    assert lake.value("SELECT count(*) FROM intent_outcomes WHERE outcome = 'foreign'") == 1
    lake.relay.drain()
    (finding,) = lake.verify().findings
    assert (finding.kind, finding.place) == (Kind.COMMIT, f"{TABLE} commit 6")
    assert "OPTIMIZE without a decision" in finding.message


def test_a_file_replaced_by_one_of_the_same_size(lake: ProvenLake) -> None:
    file = published_file(lake)
    content = bytearray(file.read_bytes())
    content[10] ^= 0xFF
    file.write_bytes(content)
    place = file.relative_to(lake.folder)
    assert lake.found() == {Kind.FILE: [str(place)]}


def test_a_file_of_another_size_and_one_that_is_gone(lake: ProvenLake) -> None:
    file = published_file(lake)
    place = str(file.relative_to(lake.folder))
    file.write_bytes(file.read_bytes() + b"x")
    assert lake.found() == {Kind.FILE: [place]}
    file.unlink()
    assert lake.found() == {Kind.FILE: [place]}


def test_a_file_that_is_gone_while_its_checksum_file_is_there(lake: ProvenLake) -> None:
    file = published_file(lake)
    checksum_file(str(file)).write_bytes(b"crc\0\0\0\2\0")
    file.unlink()
    assert lake.found() == {Kind.FILE: [str(file.relative_to(lake.folder))]}
