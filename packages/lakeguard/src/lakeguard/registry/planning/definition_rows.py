"""Converts a definition to a row of its table."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table

from lakeguard.registry.kinds import name_of
from lakeguard.state.schema import (
    dataset_registry_revisions,
    dq_rule_catalog_revisions,
    md_jobs_revisions,
    md_tgt_ctrl_revisions,
    policy_rules_revisions,
    schema_compatibility_rules_revisions,
    source_systems_revisions,
)
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.core.ids import new_id, new_uuid
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    DatasetDefinition,
    Definition,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    SourceDefinition,
    TargetDefinition,
)

TABLES: dict[str, Table] = {
    "profile": schema_compatibility_rules_revisions,
    "rule": dq_rule_catalog_revisions,
    "source": source_systems_revisions,
    "target": md_tgt_ctrl_revisions,
    "dataset": dataset_registry_revisions,
    "policy": policy_rules_revisions,
    "job": md_jobs_revisions,
}

_KEY_PREFIXES = {"source": "src", "target": "tgt", "job": "job"}
"""Id prefixes of kinds with generated ids; datasets have UUIDs, other kinds only a name."""


def new_key(definition: Definition) -> str:
    """The key of a new definition."""
    if isinstance(definition, DatasetDefinition):
        return definition.dataset_id or new_uuid()
    prefix = _KEY_PREFIXES.get(definition.kind)
    return new_id(prefix) if prefix else name_of(definition)


def row_of(definition: Definition, key: str, digest: str) -> dict[str, Any]:
    """The columns of the definition; the caller adds author and time."""
    content = {"definition_hash": digest, "definition": definition.to_json()}
    match definition:
        case SourceDefinition():
            return {**content, **_source(definition, key)}
        case TargetDefinition():
            return {**content, **_target(definition, key)}
        case DatasetDefinition():
            return {**content, **_dataset(definition, key)}
        case JobDefinition():
            return {**content, **_job(definition, key)}
        case PolicyDefinition():
            return _policy(definition)
        case ProfileDefinition():
            return {**profile_row(definition), "built_in": False}
        case CatalogueRule():
            return {**catalogue_rule_row(definition), "built_in": False}


def _source(source: SourceDefinition, key: str) -> dict[str, Any]:
    return {
        "source_system_id": key,
        "source_name": source.source,
        "source_type": _source_type(source),
        "active": source.active,
    }


def _source_type(source: SourceDefinition) -> str:
    return source.source_type if source.format is SourceFormat.OTHER else source.format.value


def _target(target: TargetDefinition, key: str) -> dict[str, Any]:
    return {
        "target_id": key,
        "location": target.location,
        "target_type": target.type,
        "zone": target.zone,
        "status": _status(target.active),
        "target_name": target.target,
    }


def _dataset(dataset: DatasetDefinition, key: str) -> dict[str, Any]:
    return {
        "dataset_id": key,
        "dataset_name": str(dataset.dataset),
        "domain": dataset.domain,
        "layer": dataset.dataset.layer.value,
        "owner": dataset.owner,
        "description": dataset.description,
        "active": not dataset.refusal,
    }


def _job(job: JobDefinition, key: str) -> dict[str, Any]:
    return {
        "job_id": key,
        "job_name": job.job,
        "description": job.description,
        "owner": job.owner,
        "job_type": job.type,
        "status": _status(job.active),
        "dataset_name": None if job.dataset is None else str(job.dataset),
    }


def _policy(policy: PolicyDefinition) -> dict[str, Any]:
    return {
        "policy_id": policy.policy,
        "applies_to_layer": policy.applies_to_layer.value if policy.applies_to_layer else "",
        "policy_type": policy.type.value,
        "policy_expression": policy.expression,
        "enforcement": policy.enforcement.value,
        "active": policy.active,
        "applies_to_domain": policy.applies_to_domain,
        "applies_to_tag": policy.applies_to_tag,
        "external_id": policy.external_id or None,
    }


def profile_row(profile: ProfileDefinition) -> dict[str, Any]:
    return {
        "profile_name": profile.profile,
        "allow_column_drop": profile.allow_column_drop,
        "allow_type_widen": profile.allow_type_widen,
        "allow_type_narrow": profile.allow_type_narrow,
        "allow_nullable_change": profile.allow_nullable_change,
        "auto_add_columns": profile.auto_add_columns,
        "reactions": _reactions(profile),
        "description": profile.description,
        "active": profile.active,
    }


def _reactions(profile: ProfileDefinition) -> str | None:
    reactions = {change.value: reaction.value for change, reaction in profile.reactions.items()}
    return canonical_json(reactions) if reactions else None


def catalogue_rule_row(rule: CatalogueRule) -> dict[str, Any]:
    return {
        "rule_name": rule.rule,
        "rule_expression": rule.expression,
        "severity": rule.severity.value,
        "description": rule.description,
        "active": rule.active,
    }


def _status(active: bool) -> str:
    return "ACTIVE" if active else "INACTIVE"
