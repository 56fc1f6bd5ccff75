"""Adoption over the ports of a control plane: a table that is there becomes version 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lakeguard_sdk import Client, connect
from lakeguard_sdk.client import WorkerClient, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName, parse_address
from lakeguard_sdk.core.enums import (
    CommitKind,
    LoadType,
    MoveKind,
    RunStatus,
    TargetFormat,
)
from lakeguard_sdk.errors import AlreadyGoverned, Fenced, InvalidDefinitions, NotApproved
from lakeguard_sdk.model.definitions import Definitions, SourceMapping, TargetDefinition
from lakeguard_sdk.model.delta_log import TABLE_PROPERTIES
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import Failure, RunResult
from lakeguard_sdk.model.table_operations import AdoptionPlan
from lakeguard_sdk.ports import Runs
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.foreign_tables import (
    adopt,
    fingerprint,
    foreign_numbers,
    foreign_project,
    forget_the_past,
    located_numbers,
    log_actions,
    numbers_in,
)
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import compact_by_hand, run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")
UNIQUE = ("unique(n)", "not_null(n)")


def assert_proved(client: Client) -> None:
    report = client.ledger.verify(replay=True)
    assert report.findings == ()


def opened(client: Client) -> AdoptionPlan:
    task_id = client.operations.submit_adoption(NUMBERS, "test")
    plan = client.runs.open_adoption(task_id, this_process("test"))
    assert isinstance(plan, AdoptionPlan)
    return plan


def reasons(result: RunResult) -> str:
    assert result.decision is not None
    return "; ".join(result.decision.ruling.reasons)


def test_what_passes_becomes_version_1_with_a_decision_behind_it(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1, 2], [3], rules=UNIQUE)
    before = fingerprint(location)
    ended = adopt(client)
    assert (ended.status, ended.version, ended.rows) == (RunStatus.SUCCESS, 1, 3)
    (version,) = client.reader.versions(NUMBERS)
    table = DeltaTable(location)
    assert version.snapshot_ref == f"delta:{table.metadata().id}@2"
    assert (version.table_rows, version.inputs, version.published) == (3, (), True)
    (move,) = client.reader.pointer_moves(NUMBERS)
    assert (move.kind, move.version) == (MoveKind.ADOPTION, 1)
    assert client.reader.replay(ended.run_id).identical
    new = fingerprint(location).items() - before.items()
    assert [name for name, _ in new] == ["_delta_log/00000000000000000002.json"]
    assert numbers_in(location) == [1, 2, 3]
    assert_proved(client)


def test_its_one_commit_sets_properties_and_touches_no_file(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1])
    before = DeltaTable(location)
    adopt(client)
    commit = DeltaLake().tables.commit_at(location, 1)
    assert commit is not None
    assert commit.author is not None
    assert (commit.author.kind, commit.seq) == (CommitKind.ADOPT, 1)
    assert {next(iter(action)) for action in log_actions(location, 1)} == {
        "commitInfo",
        "metaData",
        "txn",
    }
    after = DeltaTable(location)
    assert after.metadata().configuration == TABLE_PROPERTIES
    assert (after.metadata().id, after.schema()) == (before.metadata().id, before.schema())


def test_what_does_not_pass_says_why_and_the_table_is_as_it_was(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1, 1], [None], rules=UNIQUE)
    before = fingerprint(location)
    ended = adopt(client)
    assert ended.status is RunStatus.BLOCKED
    assert ended.decision is not None
    failed = {check.check_id: check.failed_rows for check in ended.decision.ruling.checks}
    assert (failed["unique.n"], failed["not_null.n"]) == (2, 1)
    assert fingerprint(location) == before
    assert client.reader.versions(NUMBERS) == []
    assert_proved(client)


def test_after_its_rules_were_edited_it_is_adopted(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1, 1], rules=UNIQUE)
    assert adopt(client).status is RunStatus.BLOCKED
    client.registry.apply(client.registry.plan(located_numbers(location, ["not_null(n)"])))
    assert adopt(client).version == 1
    assert_proved(client)


def test_then_it_is_governed_like_any_other(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1, 2], [3])
    adopt(client)
    assert run_by_hand(client, [4]).version == 2
    assert run_by_hand(client, [5]).version == 3
    client.operations.rollback(NUMBERS, 1, "back to what was adopted")
    assert numbers_in(location) == [1, 2, 3]
    client.operations.rollback(NUMBERS, 3, "and forward")
    assert compact_by_hand(client).version == 3
    assert len(DeltaTable(location).file_uris()) == 1
    assert numbers_in(location) == [1, 2, 3, 4, 5]
    client.operations.maintain(NUMBERS)
    assert run_by_hand(client, [6]).version == 4
    kept = client.reader.resolve(parse_address(f"{NUMBERS}@v1")).location
    assert kept.endswith("/elsewhere/numbers")
    assert_proved(client)


def test_a_table_whose_log_was_cleaned_up_is_adopted_all_the_same(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1], [2], [3])
    forget_the_past(location)
    assert adopt(client).version == 1
    assert run_by_hand(client, [4]).version == 2
    client.operations.rollback(NUMBERS, 1, "back to what was adopted")
    assert numbers_in(location) == [1, 2, 3]
    assert compact_by_hand(client).version == 1
    client.operations.maintain(NUMBERS)
    assert_proved(client)


def test_what_was_there_before_is_no_business_of_maintenance(tmp_path: Path) -> None:
    """Files that the table had dropped before stay, those of versions that are gone do not."""
    client, location = foreign_project(tmp_path, [1], [2], load=LoadType.FULL)
    dropped = set(DeltaTable(location).file_uris())
    write_deltalake(location, pa.table({"n": pa.array([3, 4])}), mode="overwrite")
    (adopted,) = DeltaTable(location).file_uris()
    adopt(client)
    for number in (5, 6, 7):
        run_by_hand(client, [number])
    folder = Path(client.project, "lakeguard.toml")
    folder.write_text(f"{folder.read_text()}[env.dev.maintenance]\nretention_days = 0\n")
    done = connect(client.project).operations.maintain(NUMBERS)
    removed = {path for removal in done.removals for path in removal.paths}
    assert Path(adopted).name in removed
    assert all(Path(file).exists() for file in dropped)
    assert_proved(connect(client.project))


def test_a_commit_of_somebody_else_after_it_was_measured_fails_it(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1])
    with meanwhile("adopt.measured", lambda: _write(location, 2)):
        ended = adopt(client)
    assert ended.error is not None
    assert (ended.status, ended.error.code, ended.error.retryable) == (
        RunStatus.FAILED,
        "LG-4002",
        True,
    )
    assert DeltaTable(location).version() == 1, "not even a fence was needed"
    assert adopt(client).rows == 2
    assert_proved(client)


def test_a_commit_in_the_last_moment_fails_it_too(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1])
    with meanwhile("adopt.before_commit", lambda: _write(location, 2)):
        ended = adopt(client)
    assert (ended.status, ended.version) == (RunStatus.FAILED, None)
    assert client.reader.versions(NUMBERS) == []
    assert numbers_in(location) == [1, 2]
    again = adopt(client)
    assert (again.version, again.rows) == (1, 2)
    assert_proved(client)


def _write(location: str, number: int) -> None:
    write_deltalake(location, pa.table({"n": pa.array([number])}), mode="append")


LIES: dict[str, Callable[[Evidence], Evidence]] = {
    "fewer files": lambda evidence: evidence.model_copy(update={"files": evidence.files[:1]}),
    "more rows": lambda evidence: evidence.model_copy(update={"rows": 9, "table_rows": 9}),
    "no hash": lambda evidence: evidence.model_copy(
        update={"files": tuple(f.model_copy(update={"sha256": ""}) for f in evidence.files)}
    ),
    "other statistics": lambda evidence: evidence.model_copy(
        update={"files": tuple(f.model_copy(update={"stats": "{}"}) for f in evidence.files)}
    ),
    "another run": lambda evidence: evidence.model_copy(update={"run_id": "run_x"}),
}


@pytest.mark.parametrize("lie", LIES)
def test_evidence_that_is_not_of_this_table_blocks(tmp_path: Path, lie: str) -> None:
    client, location = foreign_project(tmp_path, [1], [2])
    before = fingerprint(location)
    lying = _Lying(client, LIES[lie])
    worker = local_worker(lying.for_worker(), spark_options={})
    ended = worker.run_adoption(client.operations.submit_adoption(NUMBERS, "test"))
    assert ended.status is RunStatus.BLOCKED, reasons(ended)
    assert fingerprint(location) == before


class _Lying:
    """A run port that changes what is handed in on the way."""

    def __init__(self, client: Client, lie: Callable[[Evidence], Evidence]) -> None:
        self._client, self._lie = client, lie

    def for_worker(self) -> WorkerClient:
        return replace(self._client.for_worker(), runs=cast("Runs", self))

    def __getattr__(self, name: str) -> object:
        return getattr(self._client.runs, name)

    def submit_adoption(self, ticket: object, evidence: Evidence) -> RunResult:
        return self._client.runs.submit_adoption(ticket, self._lie(evidence))  # type: ignore[arg-type]


def test_an_adoption_has_no_steps_of_a_build(tmp_path: Path) -> None:
    client, _ = foreign_project(tmp_path, [1])
    plan = opened(client)
    for call in (
        lambda: client.runs.submit_schema(plan.ticket, plan.run.declared),
        lambda: client.runs.begin_move(plan.ticket),
        lambda: client.runs.finish_unchanged(plan.ticket),
    ):
        with pytest.raises(NotApproved):
            call()
    client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gave up"))
    task_id = client.operations.submit_adoption(NUMBERS, "test")
    with pytest.raises(Fenced):
        client.runs.open_run(task_id, this_process("test"))


def test_before_it_is_adopted_nobody_publishes_to_it(tmp_path: Path) -> None:
    client, location = foreign_project(tmp_path, [1])
    before = fingerprint(location)
    ended = run_by_hand(client, [2])
    assert ended.status is RunStatus.BLOCKED
    assert f"lakeguard adopt {NUMBERS} {location}" in reasons(ended)
    assert fingerprint(location) == before


def test_what_its_target_keeps_for_readers_is_delivered(tmp_path: Path) -> None:
    location = foreign_numbers(tmp_path, [1], [2])
    definitions = located_numbers(location)
    mapped = (SourceMapping(source="numbers"),)
    target = TargetDefinition(
        target="exports", location="zones/out", zone="out", format=TargetFormat.CSV, sources=mapped
    )
    dataset = definitions.datasets[0].model_copy(update={"target": "exports"})
    given = {"datasets": (dataset,), "targets": (target,)}
    client = make_project(tmp_path / "lake", definitions.model_copy(update=given))
    assert adopt(client).version == 1
    (file,) = Path(f"{location}.files", "v1").glob("*.csv")
    assert sorted(file.read_text().split()) == ["1", "2", "n"]


@pytest.mark.parametrize(
    ("known", "status"), [([1, 2], RunStatus.SUCCESS), ([1], RunStatus.BLOCKED)]
)
def test_its_keys_are_held_against_what_they_refer_to(
    tmp_path: Path, known: list[int], status: RunStatus
) -> None:
    client, _ = foreign_project(tmp_path, known)
    adopt(client)
    location = foreign_numbers(tmp_path / "more", [1, 2, 2])
    more = located_numbers(location, [f"foreign_key(n -> {NUMBERS}(n))"]).datasets[0]
    more = more.model_copy(update={"dataset": DatasetName("bronze.more")})
    client.registry.apply(client.registry.plan(Definitions(datasets=(more,))))
    assert adopt(client, DatasetName("bronze.more")).status is status


def test_it_is_adopted_once(tmp_path: Path) -> None:
    client, _ = foreign_project(tmp_path, [1])
    early = client.operations.submit_adoption(NUMBERS, "test")
    adopt(client)
    with pytest.raises(AlreadyGoverned):
        client.operations.submit_adoption(NUMBERS, "test")
    ended = client.runs.open_adoption(early, this_process("test"))
    assert isinstance(ended, RunResult)
    assert "is already governed" in reasons(ended)


@pytest.mark.parametrize("rules", [UNIQUE, ("row_count(min=100)",)])
def test_the_same_evidence_again_gives_the_first_answer(
    tmp_path: Path, rules: tuple[str, ...]
) -> None:
    client, location = foreign_project(tmp_path, [1], [2], rules=rules)
    again = _Again(client)
    worker = local_worker(again.for_worker(), spark_options={})
    ended = worker.run_adoption(client.operations.submit_adoption(NUMBERS, "test"))
    after = fingerprint(location)
    assert again.submit_adoption(*again.handed_in) == ended
    assert fingerprint(location) == after
    ticket, evidence = again.handed_in
    with pytest.raises(NotApproved, match="other evidence"):
        client.runs.submit_adoption(ticket, evidence.model_copy(update={"rows": 7}))


class _Again(_Lying):
    """A run port that remembers what was handed in."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, lambda given: given)

    def submit_adoption(self, ticket: Any, evidence: Evidence) -> RunResult:
        self.handed_in = (ticket, evidence)
        return super().submit_adoption(ticket, evidence)


def test_of_one_key_there_is_one_task(tmp_path: Path) -> None:
    client, _ = foreign_project(tmp_path, [1])
    submit = client.operations.submit_adoption
    assert submit(NUMBERS, "test", "k") == submit(NUMBERS, "test", "k") != submit(NUMBERS, "test")
    build = client.operations.submit(NUMBERS, "test", key="k")
    assert build != submit(NUMBERS, "test", "k"), "a build of that key is another task"


def test_a_table_that_another_lake_governs_is_refused(tmp_path: Path) -> None:
    first, location = foreign_project(tmp_path, [1])
    adopt(first)
    other, _ = foreign_project(tmp_path / "other")
    definitions = located_numbers(location)
    renamed = definitions.datasets[0].model_copy(update={"dataset": DatasetName("bronze.copied")})
    other.registry.apply(other.registry.plan(Definitions(datasets=(renamed,))))
    before = fingerprint(location)
    ended = adopt(other, DatasetName("bronze.copied"))
    assert ended.status is RunStatus.BLOCKED
    assert "another LakeGuard" in reasons(ended)
    assert fingerprint(location) == before


@pytest.mark.parametrize("other", ["", "/deeper", "/.."])
def test_no_two_datasets_share_a_place(tmp_path: Path, other: str) -> None:
    client, location = foreign_project(tmp_path, [1])
    place = str(Path(location + other).resolve())
    twin = located_numbers(place).datasets[0]
    twin = twin.model_copy(update={"dataset": DatasetName("bronze.twin")})
    with pytest.raises(InvalidDefinitions):
        client.registry.plan(Definitions(datasets=(twin,)))


def test_no_two_that_are_new_share_one_either(tmp_path: Path) -> None:
    client, _ = foreign_project(tmp_path)
    place = str(tmp_path / "elsewhere" / "more")
    new = located_numbers(place).datasets[0]
    names = (DatasetName("bronze.one"), DatasetName("bronze.two"))
    twins = tuple(new.model_copy(update={"dataset": name}) for name in names)
    with pytest.raises(InvalidDefinitions) as caught:
        client.registry.plan(Definitions(datasets=twins))
    assert "bronze.one" in str(caught.value.errors[0])


def test_a_table_stays_where_it_was_registered(tmp_path: Path) -> None:
    client, _ = foreign_project(tmp_path, [1])
    elsewhere = foreign_numbers(tmp_path / "moved", [1])
    for place in (elsewhere, ""):
        with pytest.raises(InvalidDefinitions, match="1 error") as caught:
            client.registry.plan(located_numbers(place))
        assert "a table cannot be moved" in str(caught.value.errors[0])


def test_a_place_in_the_lake_is_no_place_elsewhere(tmp_path: Path) -> None:
    client, _ = foreign_project(tmp_path, [1])
    inside = located_numbers(f"{tmp_path}/lake/bronze/more").datasets[0]
    inside = inside.model_copy(update={"dataset": DatasetName("bronze.more")})
    with pytest.raises(InvalidDefinitions) as caught:
        client.registry.plan(Definitions(datasets=(inside,)))
    assert "is inside the lake" in str(caught.value.errors[0])
