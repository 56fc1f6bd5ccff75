"""The run that a tester asserts on: the last that was to bring rows, whatever came after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import MoveKind, RunStatus
from lakeguard_sdk.errors import RollbackBlocked
from lakeguard_sdk.testing import Lake
from lakeguard_sdk.testing.decisions import judged
from tests.support.lakes.published_by_hand import compact_by_hand, run_by_hand
from tests.support.projects.planes import NUMBERS

DEFINITIONS = """
source: numbers
format: parquet
path: in/*.parquet
---
dataset: bronze.numbers
owner: tests
domain: test
source: numbers
load: {type: APPEND}
columns:
  n: {type: long}
"""
POLICY = """
---
policy: others
type: OWNERSHIP
expression: owner in [others]
"""


def test_a_rollback_that_was_blocked_is_no_build(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.apply(DEFINITIONS)
    run_by_hand(lake.client, [1])
    last = run_by_hand(lake.client, [2])
    compact_by_hand(lake.client)
    lake.apply(DEFINITIONS + POLICY)
    with pytest.raises(RollbackBlocked):
        lake.client.operations.rollback(NUMBERS, 1, "to be refused")
    blocked, compacted, *_ = lake.client.reader.runs(NUMBERS)
    assert (blocked.status, blocked.move) == (RunStatus.BLOCKED, MoveKind.ROLLBACK)
    assert (compacted.move, compacted.version) == (MoveKind.COMPACTION, 2)
    found = judged(lake, "bronze.numbers").run
    assert (found.run_id, found.move) == (last.run_id, MoveKind.PUBLISH)
    assert "move" not in found.to_data()
