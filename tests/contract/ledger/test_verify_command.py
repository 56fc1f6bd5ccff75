"""``lakeguard verify`` as a person calls it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.projects import numbers_project
from tests.support.projects.terminal import Terminal


def test_a_whole_project_and_one_that_was_written_past(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    run_by_hand(numbers_project(tmp_path), [1, 2])
    result = terminal.type("lakeguard verify --replay --json")
    assert (result.code, result.data["findings"], result.data["exit_code"]) == (0, [], 0)
    assert result.data["decisions"] == 1
    kept = result.data["head"]
    table = tmp_path / "bronze" / "numbers"
    write_deltalake(str(table), pa.table({"n": pa.array([3], pa.int64())}), mode="append")
    result = terminal.type(f"lakeguard verify --head {kept}")
    assert result.code == 14
    assert "✗ COMMIT" in result.out
    assert "bronze/numbers commit 2: WRITE without a decision" in result.out
    assert "Next: lakeguard undo" in result.out
    assert "verifying …" in result.err
    assert terminal.type(f"lakeguard verify --head sha256:{'0' * 64}").code == 13
