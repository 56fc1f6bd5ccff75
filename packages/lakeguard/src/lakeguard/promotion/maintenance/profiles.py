"""Profile plans for published versions, and redaction of profiles."""

from __future__ import annotations

from collections.abc import Iterable

from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.openings import lineage_of_run, opened_revision, opening_of
from lakeguard.ledger.profiles import record_profile
from lakeguard.ledger.versions import (
    StoredVersion,
    inputs_of,
    pointer,
    require_version,
    resolved_version,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.pinned_rules import pin_rules
from lakeguard.promotion.privacy.private_columns import hidden_since, is_transformed, private_in
from lakeguard.promotion.privacy.row_samples import masked_columns, patterns_passed
from lakeguard.promotion.privacy.tag_propagation import possible_tags
from lakeguard.promotion.records.version_facts import definition_of_version
from lakeguard.registry.store import (
    RegisteredDataset,
    current_policies,
    require_dataset,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import Address
from lakeguard_sdk.errors import ProfileNotMasked, ProfileRefused, UnknownVersion
from lakeguard_sdk.model.definitions import DatasetDefinition, FromSource
from lakeguard_sdk.model.profile import ColumnProfile, Profile, ProfilePlan
from lakeguard_sdk.model.row_sample import texts


def plan_profile(context: PlaneContext, address: Address) -> ProfilePlan:
    """The version to profile, and the columns to redact."""
    with context.read() as tx:
        dataset = require_dataset(tx, address.dataset)
        version = address.version
        if version is None:
            published = pointer(tx, dataset.dataset_id, address.at)
            if published is None:
                raise UnknownVersion(dataset=address.dataset, version=address.pin)
            version = published.version
        stored = require_version(tx, dataset.dataset_id, version)
        return plan_of(tx, context, dataset, stored)


def plan_of(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, stored: StoredVersion
) -> ProfilePlan:
    return ProfilePlan(
        dataset=resolved_version(tx, dataset, stored, context.lake),
        masked=hidden_in_version(tx, dataset, stored),
    )


def keep_profile(context: PlaneContext, profile: Profile) -> Profile:
    """Store a profile; refused if it does not match its version or contains private values."""
    with context.write() as tx:
        dataset = require_dataset(tx, profile.dataset)
        stored = require_version(tx, dataset.dataset_id, profile.version)
        return keep(tx, dataset, stored, profile)


def keep(
    tx: Transaction, dataset: RegisteredDataset, stored: StoredVersion, profile: Profile
) -> Profile:
    problem = _problem(profile, stored)
    if problem is not None:
        raise ProfileRefused(dataset=dataset.name, version=stored.version, reason=problem)
    hidden = hidden_in_version(tx, dataset, stored)
    shown = _shown(profile.columns, hidden)
    if shown is not None:
        raise ProfileNotMasked(dataset=dataset.name, version=stored.version, column=shown)
    stored_profile = profile.model_copy(update={"dataset": dataset.name, "taken_at": tx.now()})
    definition = definition_of_version(tx, stored) or dataset.definition
    reads_source = isinstance(definition.build, FromSource)
    record_profile(tx, stored, stored_profile, reads_source=reads_source)
    return stored_profile


def hidden_in_version(
    tx: Transaction, dataset: RegisteredDataset, stored: StoredVersion
) -> tuple[str, ...]:
    """Columns tagged at the build or since, with inherited tags, or under a PII policy;
    and texts, if one may contain what a policy forbids."""
    then = opening_of(tx, stored.run_id).plan
    revision = opened_revision(tx, stored.run_id)
    definition_then = definition_of_version(tx, stored)
    published = pointer(tx, dataset.dataset_id)
    pinned = pin_rules(tx, dataset, published=published, shown=stored)
    policies = current_policies(tx)
    read = inputs_of(tx, dataset.dataset_id, stored.version)
    lineage = lineage_of_run(tx, stored.run_id)
    found = {*then.masked, *then.private}
    found |= hidden_since(tx, dataset, revision, read)
    for definition in (dataset.definition, definition_then):
        if definition is None:
            continue
        transformed = bool(then.transform) or is_transformed(tx, definition)
        possible = possible_tags(tx, definition, read, transformed=transformed)
        possible += possible_tags(tx, definition, read, lineage=lineage, transformed=transformed)
        private = private_in(definition, policies, pinned, possible)
        found |= {*masked_columns(definition, pinned, private, possible), *_tagged(definition)}
    decision = decision_of_run(tx, stored.run_id, dataset.name)
    if decision is None or not patterns_passed(pinned, decision):
        found |= set(texts(stored.table_schema))
    folded = {name.casefold() for name in found}
    return tuple(name for name in stored.table_schema.names if name.casefold() in folded)


def _tagged(definition: DatasetDefinition) -> Iterable[str]:
    return (column.name for column in definition.columns if column.tags)


def _problem(profile: Profile, stored: StoredVersion) -> str | None:
    """Why the profile does not match the version, or None."""
    columns = tuple((column.column, column.type) for column in profile.columns)
    declared = tuple((column.name, column.type) for column in stored.table_schema.columns)
    if columns != declared:
        return "it is of other columns"
    if profile.rows != stored.table_rows:
        return f"it is of {profile.rows:,} rows, and the version has {stored.table_rows:,}"
    odd = next((c.column for c in profile.columns if not 0 <= c.nulls <= profile.rows), None)
    return None if odd is None else f"{odd} is said to be empty in more rows than there are"


def _shown(columns: Iterable[ColumnProfile], hidden: Iterable[str]) -> str | None:
    """A redacted column with more than its null count."""
    for column in columns:
        if (column.masked or column.column in hidden) and column != counted_only(column):
            return column.column
    return None


def counted_only(column: ColumnProfile) -> ColumnProfile:
    """The null count only."""
    return ColumnProfile(column=column.column, type=column.type, nulls=column.nulls, masked=True)
