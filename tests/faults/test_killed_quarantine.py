"""Processes killed with SIGKILL while they quarantine rows: nothing waits that no version names."""

from __future__ import annotations

import multiprocessing
import signal
from pathlib import Path

import pytest

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from tests.faults import killed_quarantine
from tests.support.lakes.loaded_tables import TABLE, LoadedTable

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
NEWBORN = multiprocessing.get_context("spawn")
"""A process with a session of its own, which dies with it."""
COLUMNS = {"id": "long", "amount": "long"}
RULE = define_rule(
    parse_rule("ge(amount, value=0) on_fail quarantine"), rule_id="amount", severity=None
)
LOADS = [Load(type=LoadType.APPEND), Load(type=LoadType.SNAPSHOT, keys=("id",))]


def kill_at(folder: Path, point: str) -> None:
    process = NEWBORN.Process(target=killed_quarantine.main, args=(str(folder), point))
    process.start()
    process.join(timeout=240)
    assert process.exitcode == -signal.SIGKILL, process.exitcode


@pytest.mark.parametrize("load", LOADS, ids=lambda load: str(load.type))
def test_a_run_that_is_killed_after_its_rows_were_written(tmp_path: Path, load: Load) -> None:
    table = LoadedTable(tmp_path, load, COLUMNS, (RULE,))
    table.land([{"id": 1, "amount": 1}])
    assert table.run().version == 1
    table.land(
        [{"id": 1, "amount": 1}, {"id": 2, "amount": -3}, {"id": 4, "amount": 4}], alone=True
    )
    kill_at(tmp_path, "quarantine.written")
    left = list(tmp_path.glob("quarantine/**/*.parquet"))
    assert left
    assert {item["id"] for item in table.by_deltalake()} == {1}
    assert table.client.reader.quarantine(TABLE) == ()

    table.client.operations.reap()
    again = table.run()
    assert (again.status, again.version) == (RunStatus.SUCCESS, 2), again
    assert {item["id"] for item in table.by_deltalake()} == {1, 4}
    (waits,) = table.client.reader.quarantine(TABLE)
    assert (waits.run_id, waits.rows) == (again.run_id, 1)
    assert not {str(place.relative_to(tmp_path)) for place in left} & {f.path for f in waits.files}
    balance = table.client.reader.quarantine_balance(TABLE)
    assert balance.adds_up
    assert balance.quarantined == 1
    assert table.client.ledger.verify(replay=True).findings == ()
