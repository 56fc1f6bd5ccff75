"""Small control planes for tests: a real State on a temporary file, a clock that tests turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lakeguard.lake.port import GovernedTables
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    SourceDefinition,
)
from lakeguard_sdk.model.run import WorkerIdentity
from tests.support.databases.databases import migrated_file

NUMBERS = DatasetName("bronze.numbers")
ELSEWHERE = WorkerIdentity(name="worker", host="another-host", pid=1, process_mark="x")
"""A worker whose death only its lease can tell."""


@dataclass
class Clock:
    now: datetime = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def numbers_definitions(load: LoadType) -> Definitions:
    """One bronze dataset of one long column, from a CSV source that nobody reads here."""
    return Definitions(
        sources=(
            SourceDefinition(source="numbers", format=SourceFormat.CSV, path="numbers/*.csv"),
        ),
        datasets=(
            DatasetDefinition(
                dataset=NUMBERS,
                domain="test",
                owner="tests",
                build=FromSource(source="numbers"),
                load=load,
                columns=(ColumnDefinition(name="n", type="long"),),
            ),
        ),
    )


def make_context(
    folder: Path, tables: GovernedTables, clock: Clock, definitions: Definitions
) -> PlaneContext:
    migrated_file(folder / ".lakeguard" / "state.db")
    database = Database(f"sqlite:///{folder}/.lakeguard/state.db")
    context = PlaneContext(
        database=database,
        tables=tables,
        org_id="default",
        lake=str(folder),
        clock=clock,
        actor="tester",
    )
    with OrganisationState.of(database, "default").write() as tx:
        plan = make_plan(definitions, read_state(tx))
        apply_plan(tx, plan, "tester", clock())
    return context
