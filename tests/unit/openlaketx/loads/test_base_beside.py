"""The base of a run is read beside its staging; what it says is the same."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.run import RunPlan, TableBase
from openlaketx.loads.table_state import existing_table, reading_base
from openlaketx.publish.commit import commit_publish
from tests.support.lakes.plans import csv, plan
from tests.unit.openlaketx.governed import NUMBERS, Governed


def plan_on(table: Governed, folder: Path, **changed: Any) -> RunPlan:
    base = TableBase(version=1, commit=table.base, table_id=table.table_id)
    fields = {"load": LoadType.APPEND, "location": table.location, "base": base, **changed}
    return plan(folder, csv(), NUMBERS, **fields)


def publish(table: Governed, name: str) -> None:
    file = table.stage(f"runs/{name}/part.parquet", [1, 2])
    commit_publish(table.intent(adds=(file,), load=LoadType.APPEND))


def test_it_is_the_base_whatever_is_committed_meanwhile(tmp_path: Path) -> None:
    table = Governed.at(tmp_path)
    given = plan_on(table, tmp_path)
    with reading_base(given) as base:
        publish(table, "meanwhile")
    assert base() == existing_table(given)
    assert base().files == {}


def test_what_is_wrong_with_it_is_raised_where_it_is_asked_for(tmp_path: Path) -> None:
    table = Governed.at(tmp_path)
    other = TableBase(version=1, commit=table.base, table_id="another")
    with reading_base(plan_on(table, tmp_path, base=other)) as base:
        pass  # the batch is staged
    with pytest.raises(TableUnreadable):
        base()


def test_an_error_of_the_block_is_its_own_and_nothing_is_left_running(tmp_path: Path) -> None:
    given = plan_on(Governed.at(tmp_path), tmp_path, location=str(tmp_path / "nowhere"))
    before = threading.active_count()
    with pytest.raises(ValueError, match="staging"), reading_base(given):
        raise ValueError("staging")
    assert threading.active_count() == before
