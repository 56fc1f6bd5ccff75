"""Columns are read side by side within the memory and the threads of one reader."""

from __future__ import annotations

import pytest

from openlaketx.engine import duckdb_reader as module
from openlaketx.engine.duckdb_reader import duckdb_reader

GIGABYTE = 1024**3


@pytest.mark.parametrize(("beside", "threads", "limit"), [(1, 8, 4), (4, 2, 1), (16, 1, 0.25)])
def test_readers_beside_each_other_share(
    monkeypatch: pytest.MonkeyPatch, beside: int, threads: int, limit: float
) -> None:
    monkeypatch.setattr(module, "cores", lambda: 8)
    monkeypatch.setattr(module, "memory_bytes", lambda: 16 * GIGABYTE)
    with duckdb_reader(beside) as reader:
        asked = "SELECT current_setting('threads'), current_setting('memory_limit')"
        found, memory = reader.row(asked, {})
    assert found == threads
    assert memory == (f"{limit:.1f} GiB" if limit >= 1 else f"{limit * 1024:.1f} MiB")
