"""What is published now, and who made it: ids are checked before they are written anywhere."""

from __future__ import annotations

from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.errors import DeliveryFailed, UnknownRun, UnknownVersion
from lakeguard_sdk.model.read_models import ResolvedDataset, RunRow, VersionRow
from lakeguard_sdk.ports import Reader


def published(dataset: DatasetName, reader: Reader) -> ResolvedDataset | None:
    """Asked once alone: an answer from before may be an older version."""
    try:
        return reader.resolve(Address(dataset=dataset))
    except UnknownVersion:
        return None


def version_of(shown: ResolvedDataset, reader: Reader) -> tuple[VersionRow, RunRow]:
    """The version and its run: it belongs to the dataset, and its run and decision to it."""
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


# A delivery that cannot be made, in words that say the way out.


def failed(shown: ResolvedDataset, reason: str) -> DeliveryFailed:
    return DeliveryFailed(dataset=shown.dataset, version=shown.version, reason=reason)
