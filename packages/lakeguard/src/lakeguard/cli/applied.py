"""The definition that the registry holds, as far as the project's folder has the same."""

from __future__ import annotations

from pathlib import Path

from lakeguard.registry.loading import load_folder
from lakeguard_sdk.definition import DatasetDefinition, definition_hash
from lakeguard_sdk.errors import UsageError
from lakeguard_sdk.reading import DatasetRow


def applied_definition(folder: Path, row: DatasetRow) -> DatasetDefinition | None:
    """Exactly what was applied, proved by its hash; None where the folder says something else."""
    try:
        written = load_folder(folder).datasets
    except UsageError:
        return None
    same_name = (item for item in written if item.dataset == row.dataset_name)
    found = next(same_name, None)
    if found is None or definition_hash(found) != row.definition_hash:
        return None
    return found
