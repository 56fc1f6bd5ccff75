"""What a run looks at of a table does not follow the length of its history, and what readers would
see wrongly is found all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from lakeguard.lake.delta import DeltaTables
from lakeguard.lake.log_repair import RecordedLog
from lakeguard.lake.table_view import Approved
from lakeguard.promotion.opening import log_check
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.delta_log import CHECKPOINT_INTERVAL
from lakeguard_sdk.model.run import RunPlan, RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.file_records import FileRecord
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

LONG = 4


class NotingTables(DeltaTables):
    """Notes what is compared."""

    def __init__(self) -> None:
        self.commits: list[int] = []
        self.views = 0
        """Of all files, as readers see them."""

    def read_log(
        self, location: str, recorded: Mapping[int, str], since: int = 0, *, by_mark: bool = False
    ) -> RecordedLog:
        self.commits.append(len(recorded))
        return super().read_log(location, recorded, since, by_mark=by_mark)

    def shown_difference(self, location: str, version: int, approved: Approved) -> str | None:
        self.views += 1
        return super().shown_difference(location, version, approved)

    def damage(
        self,
        location: str,
        version: int,
        *,
        rows: int | None = None,
        records: Sequence[FileRecord] | None = None,
    ) -> str | None:
        self.views += 1
        return super().damage(location, version, rows=rows, records=records)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A table with a checkpoint, and two commits after it."""
    monkeypatch.setattr(log_check, "LONG", LONG)
    monkeypatch.setattr(log_check, "AT_A_TIME", LONG)
    client = numbers_project(tmp_path)
    for number in range(CHECKPOINT_INTERVAL + 2):
        run_by_hand(client, [number])
    return client


def log_of(client: Client) -> Path:
    return Path(client.lake) / "bronze" / "numbers" / "_delta_log"


def checkpoint_of(client: Client) -> Path:
    (file,) = log_of(client).glob("*.checkpoint.parquet")
    return file


def opened(client: Client) -> tuple[NotingTables, RunPlan | RunResult]:
    tables = NotingTables()
    assert isinstance(client.jobs, EmbeddedJobs)
    runs = PromotionRuns(replace(client.jobs.context, tables=tables))
    return tables, runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))


def refusal(found: RunPlan | RunResult) -> str:
    assert isinstance(found, RunResult)
    assert found.status is RunStatus.BLOCKED
    assert found.decision is not None
    return "; ".join(found.decision.ruling.reasons)


def test_a_run_compares_a_few_commits_and_no_file_list(client: Client) -> None:
    tables, plan = opened(client)
    assert isinstance(plan, RunPlan)
    creation, since_checkpoint = 1, 4
    assert tables.commits == [LONG + creation + since_checkpoint]
    assert tables.views == 0


def test_every_old_commit_has_its_turn() -> None:
    for moves in (1, 99, 100, 150, 1_000, 1_001):
        times = moves // 100 + 1
        turns = [log_check.turn(number, moves, 100) for number in range(7, 7 + times)]
        assert max(map(len, turns)) <= 100
        assert {move for found in turns for move in found} == set(range(1, moves + 1))


def test_another_checkpoint_is_compared_with_the_record(client: Client) -> None:
    file = checkpoint_of(client)
    file.write_bytes(file.read_bytes())
    tables, plan = opened(client)
    assert isinstance(plan, RunPlan)
    assert tables.views > 0
    assert tables.commits == [CHECKPOINT_INTERVAL + 3]


def test_a_checkpoint_that_hides_a_file_is_found(client: Client) -> None:
    file = checkpoint_of(client)
    content = pq.read_table(file)
    paths = pc.struct_field(content["add"], "path")
    hidden = next(path for path in paths.to_pylist() if path)
    pq.write_table(content.filter(pc.fill_null(pc.not_equal(paths, hidden), True)), file)
    _, found = opened(client)
    assert "is damaged" in refusal(found)


def test_an_altered_commit_after_the_checkpoint_is_found(client: Client) -> None:
    file = log_of(client) / f"{CHECKPOINT_INTERVAL + 1:020d}.json"
    file.write_bytes(file.read_bytes() + b"\n")
    _, found = opened(client)
    assert f"commit {CHECKPOINT_INTERVAL + 1} was altered" in refusal(found)


def test_an_old_commit_waits_for_its_turn_or_a_verification(client: Client) -> None:
    file = log_of(client) / f"{LONG + 2:020d}.json"
    file.write_bytes(file.read_bytes() + b"\n")
    _, plan = opened(client)
    assert isinstance(plan, RunPlan)
    assert any(str(LONG + 2) in str(finding) for finding in client.ledger.verify().findings)
    with pytest.raises(LakeGuardError, match=f"commit {LONG + 2} was altered"):
        client.operations.rollback(NUMBERS, CHECKPOINT_INTERVAL, reason="test")


def test_a_later_checkpoint_of_others_is_compared(client: Client) -> None:
    file = log_of(client) / f"{CHECKPOINT_INTERVAL + 1:020d}.checkpoint.parquet"
    file.write_bytes(checkpoint_of(client).read_bytes())
    _, found = opened(client)
    assert "is damaged" in refusal(found)


def test_a_lost_file_is_found_in_its_turn(client: Client) -> None:
    data = sorted((log_of(client).parent / "runs").glob("*/*.parquet"))
    data[0].unlink()
    _, found = opened(client)
    assert "is missing" in refusal(found)
