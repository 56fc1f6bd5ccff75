"""Stored profiles, redacted by today's tags."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from lakeguard.ledger.profiles import profiles_of
from lakeguard.ledger.versions import require_version
from lakeguard.promotion.maintenance.profiles import counted_only, hidden_in_version
from lakeguard.registry.store import require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.profile import Profile


def shown_profiles(tx: Transaction, name: DatasetName, version: int | None) -> tuple[Profile, ...]:
    """Newest first. Columns tagged since are reduced to their null count."""
    dataset = require_dataset(tx, name)

    @cache
    def hidden(of: int) -> tuple[str, ...]:
        stored = require_version(tx, dataset.dataset_id, of)
        return hidden_in_version(tx, dataset, stored)

    stored_profiles = profiles_of(tx, dataset.name, dataset.dataset_id, version)
    return tuple(_without(profile, hidden(profile.version)) for profile in stored_profiles)


def _without(profile: Profile, hidden: Collection[str]) -> Profile:
    columns = tuple(
        counted_only(column) if column.column in hidden else column for column in profile.columns
    )
    return profile.model_copy(update={"columns": columns})
