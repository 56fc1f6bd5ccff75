"""A clock that was wrong once: facts are ordered by their sequence, not by their time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard.insight.reader.reader import StateReader
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.reap import fail_run
from lakeguard.promotion.open_run import open_run
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.memory_tables import MemoryTables
from tests.support.projects.planes import NUMBERS, Clock, make_context, numbers_definitions

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def context(tmp_path: Path) -> PlaneContext:
    clock = Clock(NOON)
    return make_context(tmp_path, MemoryTables(), clock, numbers_definitions(LoadType.FULL))


def failed(context: PlaneContext, at: datetime, message: str) -> str:
    moved = replace(context, clock=Clock(at))
    plan = open_run(moved, EmbeddedOperations(moved).submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    fail_run(moved, plan.ticket, Failure(code="LG-0000", message=message))
    return plan.ticket.run_id


def test_a_later_run_is_the_last_one_whatever_its_time(context: PlaneContext) -> None:
    ahead = failed(context, NOON + timedelta(days=1), "a day ahead")
    later = failed(context, NOON, "after the clock was set right")
    reader = StateReader(context, context.lake)
    (status,) = reader.status()
    assert status.last_run is not None
    assert (status.last_run.run_id, status.last_run.status) == (later, RunStatus.FAILED)
    assert [run.run_id for run in reader.runs(NUMBERS)] == [later, ahead]
