"""The currently published version and its run; ids are checked before they are written."""

from __future__ import annotations

from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.errors import DeliveryFailed, UnknownRun, UnknownVersion
from lakeguard_sdk.model.read_models import ResolvedDataset, RunRow, VersionRow
from lakeguard_sdk.ports import Reader


def published(dataset: DatasetName, reader: Reader) -> ResolvedDataset | None:
    """Call it under the delivery lock: an earlier result may be outdated."""
    try:
        return reader.resolve(Address(dataset=dataset))
    except UnknownVersion:
        return None


def version_of(shown: ResolvedDataset, reader: Reader) -> tuple[VersionRow, RunRow]:
    """The version and its run, checked to belong to the dataset and to the decision."""
    rows = reader.versions(shown.dataset)
    row = next((row for row in rows if row.version == shown.version), None)
    if row is None:
        raise failed(shown, "the control plane has no such version")
    if row.dataset_id != shown.dataset_id:
        raise failed(shown, f"the version belongs to {row.dataset_id}")
    try:
        run = reader.run(row.run_id)
    except UnknownRun:
        raise failed(shown, f"the control plane has no run {row.run_id}") from None
    if (run.dataset_id, run.decision_id) != (row.dataset_id, row.decision_id):
        raise failed(shown, f"run {row.run_id} belongs to another dataset or decision")
    return row, run


def failed(shown: ResolvedDataset, reason: str) -> DeliveryFailed:
    return DeliveryFailed(dataset=shown.dataset, version=shown.version, reason=reason)
