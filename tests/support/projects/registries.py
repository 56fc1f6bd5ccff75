"""A registry in memory of its own file: plan, apply, look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.given_values.record_values import read_given, record_given
from lakeguard.registry.given_values.restore_rows import restored_rows
from lakeguard.registry.kinds import gathered
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.rows import Row
from lakeguard.registry.rows.assemble import Assembly
from lakeguard.registry.rows.write_rows import Written
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.store import read_state
from lakeguard.registry.text.problems import Findings
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.plan import Applied, Plan

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class SmallRegistry:
    """The real store on a real database, with one organisation."""

    def __init__(self, folder: Path, org_id: str = "default") -> None:
        self.database = Database(f"sqlite:///{folder}/state.db")
        self.database.migrate()
        self.org_id = org_id

    def state(self) -> RegistryState:
        with OrganisationState.of(self.database, self.org_id).read() as tx:
            return read_state(tx)

    def plan(self, definitions: Definitions) -> Plan:
        with OrganisationState.of(self.database, self.org_id).read() as tx:
            return make_plan(definitions, read_state(tx))

    def apply(self, plan: Plan) -> Applied:
        with OrganisationState.of(self.database, self.org_id).write() as tx:
            return apply_plan(tx, plan, "tester", NOON)

    def register(self, definitions: Definitions) -> Applied:
        return self.apply(self.plan(definitions))

    def load(self, rows: Iterable[Row]) -> Applied:
        """Load rows as the command does; they have no mistakes."""
        findings = Findings()
        assembly = Assembly(rows, self.definitions(), findings, self.dataset_ids())
        assert [f"{error.place} {error}" for error in findings.errors()] == []
        plan = self.plan(assembly.definitions)
        with OrganisationState.of(self.database, self.org_id).write() as tx:
            applied = apply_plan(tx, plan, "tester", NOON)
            record_given(tx, assembly.given, NOON)
        return applied

    def definitions(self) -> Definitions:
        with OrganisationState.of(self.database, self.org_id).read() as tx:
            state = read_state(tx)
            held = state.open_all(state.entries.values())
        return gathered(held[key].definition for key in sorted(held))

    def dataset_ids(self) -> dict[str, str]:
        entries = self.state().entries.values()
        return {entry.name: entry.key for entry in entries if entry.kind == "dataset"}

    def export(self) -> dict[str, list[Written]]:
        with OrganisationState.of(self.database, self.org_id).read() as tx:
            given = read_given(tx)
        return restored_rows(self.definitions(), self.dataset_ids(), given)

    def rows(self, table: str) -> list[dict[str, object]]:
        with self.database.read() as connection:
            found = connection.exec_driver_sql(f"SELECT * FROM {table}")
            return [dict(row._mapping) for row in found]


@contextmanager
def small_registry(folder: Path, org_id: str = "default") -> Iterator[SmallRegistry]:
    registry = SmallRegistry(folder, org_id)
    try:
        yield registry
    finally:
        registry.database.close()
