"""Logs that do not show what was published: reported as damage, refused, undone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from lakeguard.cli.rendering.status import Badge, badge_of
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.core.enums import LoadType, Outcome, RunStatus
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, FromSql
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.model.run import Failure, RunPlan, RunResult, failure_of
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.engine.file_check import check_shown, checking_files
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand, shown
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project
from tests.unit.gate.cases import rule

DOUBLED = DatasetName("silver.doubled")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    given = numbers_definitions(LoadType.APPEND)
    doubled = DatasetDefinition(
        dataset=DOUBLED,
        domain="test",
        owner="tests",
        build=FromSql(file="sql/doubled.sql", text=f"select n * 2 as n from {NUMBERS}"),
        parents=(NUMBERS,),
        load=LoadType.FULL,
        columns=(ColumnDefinition(name="n", type="long"),),
    )
    numbers = given.datasets[0].model_copy(update={"rules": (rule("row_count(min=1)"),)})
    make_project(tmp_path, given.model_copy(update={"datasets": (numbers, doubled)}))
    made = connect(tmp_path)
    for number in (1, 2, 3):
        run_by_hand(made, [number])
    return made


def log_of(client: Client) -> Path:
    return Path(client.lake) / "bronze" / "numbers" / "_delta_log"


def status(client: Client) -> tuple[Badge, str]:
    found = next(row for row in client.reader.status() if row.dataset.dataset_name == NUMBERS)
    return badge_of(found), found.damage


def refusal(result: RunPlan | RunResult) -> str:
    assert isinstance(result, RunResult)
    assert result.status is RunStatus.BLOCKED
    assert result.decision is not None
    (failed,) = (c for c in result.decision.ruling.checks if c.outcome is Outcome.FAIL)
    return failed.message


def open_doubled(client: Client) -> RunPlan | RunResult:
    task = client.operations.submit(DOUBLED, "test")
    return client.runs.open_run(task, this_process("test"))


def alter_metadata(client: Client, change: Callable[[dict[str, object]], None]) -> None:
    """Another metaData in the commit that made the table."""
    first = log_of(client) / f"{0:020d}.json"
    actions = [json.loads(line) for line in first.read_text().splitlines()]
    for action in actions:
        if "metaData" in action:
            change(action["metaData"])
    first.write_text("\n".join(map(json.dumps, actions)))


def without_columns(metadata: dict[str, object]) -> None:
    metadata["schemaString"] = '{"type":"struct","fields":[]}'


def partitioned_by_nothing_known(metadata: dict[str, object]) -> None:
    metadata["partitionColumns"] = ["country"]


def without_a_schema(metadata: dict[str, object]) -> None:
    metadata["schemaString"] = "{"


@pytest.mark.parametrize(
    "change", [without_columns, partitioned_by_nothing_known, without_a_schema]
)
def test_altered_metadata_is_damage_for_every_run_that_reads_the_table(
    client: Client, change: Callable[[dict[str, object]], None]
) -> None:
    honest = (log_of(client) / f"{0:020d}.json").read_bytes()
    alter_metadata(client, change)
    assert "lakeguard undo bronze.numbers" in refusal(open_doubled(client))
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "lakeguard undo bronze.numbers" in damage
    assert "damaged" in {row.notification.kind for row in client.notifications.rows(Topic.ALERT)}
    assert "lakeguard undo bronze.numbers" in refusal(run_by_hand(client, [4]))
    assert client.operations.undo(NUMBERS, "the schema was changed").commits == (0,)
    assert (log_of(client) / f"{0:020d}.json").read_bytes() == honest
    assert status(client)[1] == ""
    assert isinstance(open_doubled(client), RunPlan)
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS


def test_rollback_refuses_an_altered_log(client: Client) -> None:
    entry = log_of(client) / f"{2:020d}.json"
    honest = entry.read_bytes()
    entry.write_bytes(honest.replace(b'"dataChange":true', b'"dataChange": true'))
    with pytest.raises(TableUnreadable, match=r"commit 2 was altered; undo it: lakeguard undo bro"):
        client.operations.rollback(NUMBERS, 1, "mistake")
    assert status(client)[0] is Badge.DAMAGED
    assert shown(Path(client.lake)) == [1, 2, 3]
    client.operations.undo(NUMBERS, "somebody wrote to it")
    client.operations.rollback(NUMBERS, 1, "mistake")
    assert shown(Path(client.lake)) == [1]


# Checkpoints: readers read these instead of old commits.


def forge(client: Client, change: Callable[[list[dict[str, object]]], None]) -> None:
    """A checkpoint at the head that does not say what its commits say."""
    DeltaTable(str(log_of(client).parent)).create_checkpoint()
    (file,) = log_of(client).glob("*.checkpoint.parquet")
    table = pq.read_table(file)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    last = log_of(client) / "_last_checkpoint"
    document = json.loads(last.read_text())
    document.update(size=len(rows), sizeInBytes=file.stat().st_size)
    document.pop("checksum", None)
    last.write_text(json.dumps(document))


def adds(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [row for row in rows if row.get("add")]


def lose_a_file(rows: list[dict[str, object]]) -> None:
    rows.remove(adds(rows)[0])


def lose_a_file_but_no_row(rows: list[dict[str, object]]) -> None:
    lost, kept, *_ = adds(rows)
    rows.remove(lost)
    change_statistics(kept, '"numRecords":1', '"numRecords":2')


def claim_a_range(rows: list[dict[str, object]]) -> None:
    change_statistics(adds(rows)[0], "}", ',"minValues":{"n":900}}')


def change_statistics(row: dict[str, object], old: str, new: str) -> None:
    add = row["add"]
    assert isinstance(add, dict)
    assert old in add["stats"]
    add["stats"] = add["stats"].replace(old, new)


def rename_a_column(rows: list[dict[str, object]]) -> None:
    (metadata,) = (row["metaData"] for row in rows if row.get("metaData"))
    assert isinstance(metadata, dict)
    metadata["schemaString"] = metadata["schemaString"].replace('"n"', '"m"')


FORGERIES = [lose_a_file, lose_a_file_but_no_row, claim_a_range, rename_a_column]


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_damage(
    client: Client, forgery: Callable[[list[dict[str, object]]], None]
) -> None:
    forge(client, forgery)
    assert "bronze.numbers" in refusal(open_doubled(client))
    assert status(client)[0] is Badge.DAMAGED
    assert "undo" in refusal(run_by_hand(client, [4]))
    with pytest.raises(TableUnreadable):
        client.operations.rollback(NUMBERS, 3, "mistake")
    undone = client.operations.undo(NUMBERS, "the checkpoint was changed")
    assert (undone.commits, undone.moved) == ((), False)
    assert status(client)[1] == ""
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [1, 2, 3, 4]


def plant_compacted(client: Client, *, loses: int | None) -> Path:
    """Commits 1 to 3 in one file, without the file that one of them added."""
    actions = [
        line
        for version in (1, 2, 3)
        for line in (log_of(client) / f"{version:020d}.json").read_text().splitlines()
        if "commitInfo" not in line and not (version == loses and '"add"' in line)
    ]
    planted = log_of(client) / f"{1:020d}.{3:020d}.compacted.json"
    planted.write_text("\n".join(actions))
    return planted


def test_compacted_commits_that_say_something_else_are_damage(client: Client) -> None:
    planted = plant_compacted(client, loses=2)
    assert client.ledger.verify().findings != ()
    assert status(client)[0] is Badge.DAMAGED
    assert "undo" in refusal(open_doubled(client))
    assert "undo" in refusal(run_by_hand(client, [4]))
    client.operations.undo(NUMBERS, "compacted commits were planted")
    assert not planted.exists()
    assert status(client)[1] == ""
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [1, 2, 3, 4]


def test_honest_compacted_commits_are_no_damage(client: Client) -> None:
    plant_compacted(client, loses=None)
    assert client.ledger.verify().findings == ()
    assert isinstance(open_doubled(client), RunPlan)
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS
    assert status(client)[1] == ""


def test_a_property_that_somebody_set_stays_damage_until_it_is_undone(client: Client) -> None:
    table = DeltaTable(str(log_of(client).parent))
    table.alter.set_table_properties({"delta.appendOnly": "true"})
    assert "undo" in refusal(run_by_hand(client, [4]))
    (finding,) = client.ledger.verify().findings
    assert "it changes the property delta.appendOnly" in finding.message
    assert status(client)[0] is Badge.DAMAGED
    client.operations.undo(NUMBERS, "the property was set")
    assert client.ledger.verify().findings == ()
    assert status(client)[1] == ""
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS
    assert "delta.appendOnly" not in DeltaTable(str(log_of(client).parent)).metadata().configuration


def test_verify_does_not_clear_what_still_blocks_runs(client: Client) -> None:
    """A rewrite that is proved neutral is no finding, but has no decision either."""
    assert DeltaTable(str(log_of(client).parent)).optimize.compact()["numFilesRemoved"] == 3
    assert "undo" in refusal(run_by_hand(client, [4]))
    assert client.ledger.verify().findings == ()
    assert status(client)[0] is Badge.DAMAGED
    client.operations.undo(NUMBERS, "somebody optimized it")
    assert status(client)[1] == ""


def test_an_honest_checkpoint_is_no_damage(client: Client) -> None:
    for number in range(4, 14):
        assert run_by_hand(client, [number]).status is RunStatus.SUCCESS
    assert list(log_of(client).glob("*.checkpoint.parquet"))
    client.operations.rollback(NUMBERS, 2, "mistake")
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert isinstance(open_doubled(client), RunPlan)
    assert status(client)[1] == ""
    assert shown(Path(client.lake)) == [1, 2, 3]


def read(client: Client) -> None:
    """What every reader of a version does first."""
    found = client.reader.resolve(Address(dataset=NUMBERS))
    paths = set(live_files(open_table(found.location, found.commit)))
    with checking_files(client.reader):
        check_shown(NUMBERS, found.table_id, found.location, found.commit, paths)


def test_readers_compare_the_files_of_a_version(client: Client) -> None:
    read(client)
    forge(client, lose_a_file)
    with pytest.raises(TableUnreadable, match="it shows 2 files instead of 3"):
        read(client)


def test_a_run_that_finds_an_altered_log_records_it(client: Client) -> None:
    plan = open_doubled(client)
    assert isinstance(plan, RunPlan)
    forge(client, lose_a_file)
    error = TableUnreadable(dataset=NUMBERS, location="x", reason="its log was altered")
    client.runs.fail_run(plan.ticket, failure_of(error))
    assert client.reader.run(plan.ticket.run_id).damaged == NUMBERS
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "lakeguard undo bronze.numbers" in damage


def damage_a_page(client: Client) -> None:
    file = next((log_of(client).parent / "runs").rglob("*.parquet"))
    data = bytearray(file.read_bytes())
    data[20] ^= 1
    file.write_bytes(data)


def test_damaged_pages_are_found_by_their_hash(client: Client) -> None:
    """A checksum of a page failed, but size and footer of the file are the recorded ones."""
    plan = open_doubled(client)
    assert isinstance(plan, RunPlan)
    damage_a_page(client)
    client.runs.fail_run(plan.ticket, Failure(code="LG-5022", message="a checksum failed"))
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "its content differs" in damage


def test_damaged_pages_that_could_not_be_measured_are_found(client: Client) -> None:
    task = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    damage_a_page(client)
    unmeasured = {measure_key(RowCount()): "Snappy decompression failure"}
    evidence = evidence_of(DeltaLake(), plan, [4])
    given = {"measures": {}, "unmeasured": unmeasured}
    decision = client.runs.submit_evidence(plan.ticket, evidence.model_copy(update=given))
    assert not decision.allowed
    assert "its content differs" in status(client)[1]
