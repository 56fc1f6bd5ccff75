"""Records after a SIGKILL, with several writers, and on a full disk: what was acknowledged is there
once, and each batch is there whole or not at all."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from lakeguard_sdk.storage.fault_points import POINTS
from lakeguard_sdk.testing.record_samples import read_tail
from tests.faults import killed_records
from tests.faults.killed_records import LOGS, batch, opened
from tests.faults.test_killed import NEWBORN

OF_ONE_LOG = {"records.appended": "segments", "records.synced": "segments",
              "records.created": "objects"}  # fmt: skip
DEATHS = tuple(
    (kind, point, time)
    for point in POINTS
    if point.startswith("records.")
    for kind in LOGS
    if OF_ONE_LOG.get(point, kind) == kind
    for time in ((1, 6) if point in OF_ONE_LOG else (1,))
)


def assert_whole(root: Path, kind: str) -> Counter[str]:
    """How many records of each writer are there."""
    with opened(str(root), kind) as repository:
        found = read_tail(repository, limit=50)[0]
    runs = Counter(record.context.run_id or "" for record in found)
    assert set(runs.values()) <= {1}
    parts: Counter[tuple[str, int]] = Counter()
    for run in runs:
        writer, number, _ = run.rsplit("-", 2)
        parts[writer, int(number)] += 1
    for (writer, number), size in parts.items():
        assert size == len(batch(writer, number)), (writer, number)
    for file in root.glob("acknowledged-*"):
        writer = file.name.removeprefix("acknowledged-")
        for number in map(int, file.read_text().split()):
            assert (writer, number) in parts
    return Counter(writer for writer, _ in parts)


@pytest.mark.parametrize(("kind", "point", "time"), DEATHS)
def test_a_killed_writer(kind: str, point: str, time: int, tmp_path: Path) -> None:
    process = NEWBORN.Process(target=killed_records.die_at, args=(str(tmp_path), kind, point, time))
    process.start()
    process.join(timeout=120)
    assert process.exitcode == -signal.SIGKILL
    assert_whole(tmp_path, kind)
    with opened(str(tmp_path), kind) as repository:
        for number in range(12):
            repository.bulk_store(batch("one", number))
    assert assert_whole(tmp_path, kind) == {"one": 12}


@pytest.mark.parametrize("kind", LOGS)
def test_a_writer_killed_at_any_moment_beside_another(kind: str, tmp_path: Path) -> None:
    first, second = (
        NEWBORN.Process(target=killed_records.store_all, args=(str(tmp_path), kind, who, 40))
        for who in ("one", "two")
    )
    first.start()
    second.start()
    acknowledged = tmp_path / "acknowledged-one"
    deadline = time.monotonic() + 120
    while not (acknowledged.exists() and len(acknowledged.read_text().split()) >= 5):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    first.kill()
    first.join(timeout=120)
    second.join(timeout=120)
    assert second.exitcode == 0
    found = assert_whole(tmp_path, kind)
    assert found["two"] == found["both"] == 40
    assert 5 <= found["one"] <= 40


@pytest.mark.parametrize("kind", LOGS)
def test_a_full_disk_is_named_and_tears_nothing(kind: str, tmp_path: Path) -> None:
    process = NEWBORN.Process(target=killed_records.fill_the_disk, args=(str(tmp_path), kind))
    process.start()
    process.join(timeout=120)
    assert process.exitcode == 7
    assert assert_whole(tmp_path, kind)["later"] == 1
