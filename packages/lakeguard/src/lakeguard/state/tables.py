"""All tables and views of the State, in one import."""

from __future__ import annotations

from lakeguard.state.definition_tables import (
    dataset_registry_revisions,
    policy_rules_revisions,
    quality_rules_revisions,
    registry_applies,
    source_systems_revisions,
)
from lakeguard.state.ledger_tables import (
    data_versions,
    dataset_pointers,
    decisions,
    documents,
    governed_tables,
    intent_outcomes,
    intents,
    materializations,
    outbox,
    promotion_status,
    run_history,
    version_inputs,
)
from lakeguard.state.metadata import metadata
from lakeguard.state.task_tables import run_openings, run_schemas, task_attempts, tasks
from lakeguard.state.views import (
    dataset_registry,
    policy_rules,
    promotion_current,
    quality_rules,
    source_systems,
)

__all__ = [
    "data_versions",
    "dataset_pointers",
    "dataset_registry",
    "dataset_registry_revisions",
    "decisions",
    "documents",
    "governed_tables",
    "intent_outcomes",
    "intents",
    "materializations",
    "metadata",
    "outbox",
    "policy_rules",
    "policy_rules_revisions",
    "promotion_current",
    "promotion_status",
    "quality_rules",
    "quality_rules_revisions",
    "registry_applies",
    "run_history",
    "run_openings",
    "run_schemas",
    "source_systems",
    "source_systems_revisions",
    "task_attempts",
    "tasks",
    "version_inputs",
]
