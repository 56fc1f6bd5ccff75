"""The rows of a published version, as a relation of DuckDB."""

from __future__ import annotations

from lakeguard_sdk.evidence import InputVersion
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.run import InputPin, TableSnapshot
from openlaketx.measure.measuring import Relation
from openlaketx.measure.references import pinned_rows


def version_rows(dataset: ResolvedDataset) -> Relation:
    """Exactly the files of the version; a later commit cannot be seen."""
    version = InputVersion(
        dataset=dataset.dataset, dataset_id=dataset.dataset_id, version=dataset.version
    )
    pin = InputPin(
        input=version,
        snapshot=TableSnapshot(
            location=dataset.location, table_id=dataset.table_id, commit=dataset.commit
        ),
        table_schema=dataset.table_schema,
    )
    return Relation(*pinned_rows((pin,), dataset.dataset)[dataset.dataset].origin())
