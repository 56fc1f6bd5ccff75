"""The terms of a dataset: what its profile says, and its definition."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.gate.schema_profiles import BUILT_IN, answers_of
from lakeguard.gate.schema_terms import DEFAULT, SchemaTerms
from lakeguard.promotion.eligibility import Findings
from lakeguard.registry.store import RegisteredDataset, current_profiles


def schema_terms(
    connection: Connection, org_id: str, dataset: RegisteredDataset, findings: Findings
) -> SchemaTerms:
    """The dataset's own; a profile that is disabled is refused by name."""
    name = dataset.definition.profile
    own = next((p for p in current_profiles(connection, org_id) if p.profile == name), None)
    if own is not None and not own.active:
        findings.refuse("profile", f"schema profile {name} is disabled (active: false)")
    if own is None and name not in BUILT_IN:
        findings.refuse("profile", f"schema profile {name} is not registered")
    answers = answers_of(own) if own else BUILT_IN.get(name, BUILT_IN[DEFAULT])
    columns = dataset.definition.columns
    return SchemaTerms(
        profile=name,
        answers=dict(answers),
        promised=tuple(column.name for column in columns if not column.nullable),
        leave_out=dataset.definition.leave_out,
    )
