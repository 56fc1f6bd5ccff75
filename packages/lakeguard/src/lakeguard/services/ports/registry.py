"""The registry port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.kinds import gathered
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.registry.validation.settings_checks import (
    require_apart,
    require_source_roots,
    require_store,
)
from lakeguard.services.users import records_actor
from lakeguard_sdk.errors import SecretInReason
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.given_values import GivenRow, GivenValues
from lakeguard_sdk.model.plan import Applied, Plan
from lakeguard_sdk.security.secret_values import holds_secret
from lakeguard_sdk.storage.fault_points import reached


@dataclass(frozen=True)
class EmbeddedRegistry:
    context: PlaneContext

    def definitions(self) -> Definitions:
        """All registered definitions, sorted by kind and name."""
        with self.context.read() as tx:
            state = read_state(tx)
            held = state.open_all(state.entries.values())
        return gathered(held[key].definition for key in sorted(held))

    def dataset_ids(self) -> dict[str, str]:
        """The ids of all datasets, by name."""
        with self.context.read() as tx:
            entries = read_state(tx).entries.values()
        return {entry.name: entry.key for entry in entries if entry.kind == "dataset"}

    def given_values(self) -> GivenValues:
        """What rows gave, by definition, where an export would write something else."""
        from lakeguard.registry.given_values.record_values import read_given

        with self.context.read() as tx:
            return read_given(tx)

    def plan(self, definitions: Definitions, *, keep_drift: bool = True) -> Plan:
        require_apart(definitions.targets, self.context.database.url)
        require_store(definitions, self.context.secrets.command)
        with self.context.read() as tx:
            current = read_state(tx)
            plan = make_plan(definitions, current, self.context.lake, keep_drift=keep_drift)
        self._require_roots(gathered(step.definition for step in plan.steps))
        return plan

    def _require_roots(self, changed: Definitions) -> None:
        """Checks only changed definitions; registered ones were checked before."""
        if self.context.source_roots is not None:
            require_source_roots(changed, self.context.lake, self.context.source_roots)

    @records_actor
    def apply(
        self,
        plan: Plan,
        reason: str = "",
        *,
        keep_drift: bool = True,
        given: Sequence[GivenRow] = (),
    ) -> Applied:
        """Also refused if a move in progress adds columns that the plan does not allow."""
        from lakeguard.promotion.deciding.record_decision import register_datasets
        from lakeguard.promotion.publishing.schema_drift import require_room_for_moves
        from lakeguard.registry.apply_plan import apply_plan
        from lakeguard.registry.given_values.record_values import record_given

        if holds_secret(reason):
            raise SecretInReason()
        context, at = self.context, self.context.clock()
        changed = gathered(step.definition for step in plan.steps)
        require_apart(changed.targets, context.database.url)
        require_store(changed, context.secrets.command)
        self._require_roots(changed)
        with context.write() as tx:
            applied = apply_plan(
                tx, plan, tx.actor, at, context.lake, reason or None, keep_drift=keep_drift
            )
            if applied.steps:
                require_room_for_moves(tx, context)
                register_datasets(tx, applied)
            record_given(tx, given, at)
            reached("apply.written")
        reached("apply.committed")
        return applied
