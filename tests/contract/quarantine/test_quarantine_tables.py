"""What maintenance leaves of quarantined rows, and what verify says where something is missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard.plane import rebuild_embedded
from lakeguard.promotion.maintenance.remove_files import files_that_may_wait, left_to_remove
from lakeguard.registry.store import require_dataset
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard_sdk import connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.quarantine import QuarantineSelection
from lakeguard_sdk.model.table_operations import RemovalKind
from lakeguard_sdk.model.verification import FindingKind
from tests.contract.quarantine.test_quarantine import balance, in_table, states
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.quarantined_by_hand import ByHand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

AT_ONCE = "[env.dev.maintenance]\nretention_days = 0\ninspection_days = 0\n"


def project(folder: Path, load: LoadType = LoadType.APPEND) -> ByHand:
    ByHand.project(folder, load)
    file = folder / "lakeguard.toml"
    file.write_text(f"{file.read_text()}{AT_ONCE}")
    return ByHand(connect(folder))


def on_disk(folder: Path) -> int:
    return len(list((folder / "quarantine").rglob("execution_id=*/*.parquet")))


def findings(world: ByHand) -> list[tuple[FindingKind, str]]:
    report = world.client.ledger.verify()
    return [(finding.kind, finding.message) for finding in report.findings]


def test_maintenance_leaves_what_waits_or_may_wait_again(tmp_path: Path) -> None:
    world = project(tmp_path)
    world.run([1, -1])
    world.run([2, -2])
    blocked = world.opened()
    world.decide(blocked, [3, -3])
    world.fail(blocked)
    world.replay(world.client.operations.submit_replay(NUMBERS, "tests", QuarantineSelection()))
    assert on_disk(tmp_path) == 3
    found = {item.kind: item for item in world.client.operations.maintain(NUMBERS).removals}
    assert found[RemovalKind.QUARANTINE].runs == (blocked.ticket.run_id,)
    assert on_disk(tmp_path) == 2, "v1 and v2 can be shown again, and their rows wait then"
    world.client.operations.rollback(NUMBERS, 2, "because")
    assert in_table(tmp_path) == [-2, -1]
    assert findings(world) == []


def test_what_no_version_needs_any_more_goes(tmp_path: Path) -> None:
    world = project(tmp_path, LoadType.FULL)
    for number in range(1, 5):
        world.run([number, -number])
    world.client.operations.maintain(NUMBERS)
    world.client.operations.maintain(NUMBERS)
    assert on_disk(tmp_path) == 2, "those of the last two versions"
    assert findings(world) == []


def test_what_was_just_discarded_is_there_to_be_looked_at(tmp_path: Path) -> None:
    ByHand.project(tmp_path)
    settings = tmp_path / "lakeguard.toml"
    days = "[env.dev.maintenance]\nretention_days = 0\ninspection_days = 1\n"
    settings.write_text(f"{settings.read_text()}{days}")
    world = ByHand(connect(tmp_path))
    run = world.run([1, -1]).run_id
    assert isinstance(world.client.operations, EmbeddedOperations)
    context = world.client.operations.context
    world.client.operations.discard(NUMBERS, QuarantineSelection(), "test data")
    later = replace(context, clock=lambda: context.clock() + timedelta(hours=1))
    with context.read() as tx:
        dataset = require_dataset(tx, NUMBERS)
    with later.read() as tx:
        needed = files_that_may_wait(tx, later, dataset)
    much_later = replace(context, clock=lambda: context.clock() + timedelta(days=2))
    with much_later.read() as tx:
        assert files_that_may_wait(tx, much_later, dataset) == frozenset()
    long_ago = {run: context.clock() - timedelta(days=9)}
    assert list(left_to_remove(later, long_ago, set(), needed)) == []


def test_verify_tells_of_a_file_that_is_gone_or_not_what_it_was(tmp_path: Path) -> None:
    world = project(tmp_path)
    world.run([1, -1])
    (file,) = (tmp_path / "quarantine").rglob("execution_id=*/*.parquet")
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"x")
    assert [kind for kind, _ in findings(world)] == [FindingKind.FILE]
    file.write_bytes(content + b"x")
    assert [kind for kind, _ in findings(world)] == [FindingKind.FILE]
    file.unlink()
    ((kind, reported),) = findings(world)
    assert (kind, "found none" in reported) == (FindingKind.FILE, True)


def test_verify_tells_of_a_table_that_shows_something_else(tmp_path: Path) -> None:
    world = project(tmp_path)
    world.run([1, -1])
    (log,) = (tmp_path / "quarantine").rglob("_delta_log")
    DeltaTable(log.parent).delete()
    ((kind, reported),) = findings(world)
    assert kind is FindingKind.COMMIT
    assert "does not show" in reported
    world.client.operations.reap()
    assert findings(world) == [], "the next writing command brings it back"


@pytest.mark.parametrize("point", ["complete.recorded", "quarantine.before_commit"])
def test_a_crash_leaves_nothing_that_the_next_command_does_not_do(
    tmp_path: Path, point: str
) -> None:
    world = project(tmp_path)
    with dying_at(point):
        world.run([1, -1])
    assert balance(world) == (2, 1, 1, 0, 0)
    assert in_table(tmp_path) == []
    world.client.operations.reap()
    assert in_table(tmp_path) == [-1]


def test_a_rebuilt_state_knows_what_waits(tmp_path: Path) -> None:
    world = project(tmp_path)
    world.run([1, -1, 100])
    world.run([2, -2])
    world.client.operations.discard(NUMBERS, QuarantineSelection(rules=("b_large",)), "test data")
    before = (states(world), balance(world))
    world.client.ledger.sync()
    rebuild_embedded(tmp_path, env=None, replace=True, progress=lambda _: None)
    again = ByHand(connect(tmp_path))
    assert (states(again), balance(again)) == before
    again.replay(again.client.operations.submit_replay(NUMBERS, "tests", QuarantineSelection()))
    assert balance(again) == (5, 4, 0, 1, 0)
