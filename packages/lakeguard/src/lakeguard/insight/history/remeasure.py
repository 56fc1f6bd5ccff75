"""What remeasuring a version needs: files, schema and referenced datasets."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from lakeguard.ledger.documents import get_document
from lakeguard.ledger.maintenance import removed_versions
from lakeguard.ledger.openings import opening_of
from lakeguard.ledger.runs import run_row
from lakeguard.ledger.versions import (
    StoredVersion,
    evidence_of_versions,
    pointer,
    require_version,
    shown_at,
)
from lakeguard.registry.store import RegisteredDataset, current_definition, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import UnknownRun, VersionUnreadable
from lakeguard_sdk.expressions.measures import ComparedRows, Measure, UnmatchedRows
from lakeguard_sdk.model.evidence import Evidence, InputVersion
from lakeguard_sdk.model.history import RemeasurePlan
from lakeguard_sdk.model.run import InputPin, TableSnapshot
from lakeguard_sdk.storage.storage import located

_REFERRING = (UnmatchedRows, ComparedRows)


def remeasure_plan(
    tx: Transaction, lake: str, name: DatasetName, version: int, measures: Sequence[Measure]
) -> RemeasurePlan:
    """The version at its latest commit, and the files its run added.

    Referenced datasets are pinned as the run pinned them; others as published when the run began.
    """
    dataset = require_dataset(tx, name)
    stored = require_version(tx, dataset.dataset_id, version)
    if version in removed_versions(tx, dataset.dataset_id):
        raise VersionUnreadable(
            dataset=name, version=version, reason="maintenance removed files of it"
        )
    evidence = _evidence(tx, stored)
    named = {measure.dataset for measure in measures if isinstance(measure, _REFERRING)}
    return RemeasurePlan(
        dataset=dataset.name,
        version=version,
        snapshot=_snapshot(tx, lake, dataset, stored),
        table_schema=stored.table_schema,
        measures=tuple(measures),
        references=_references(tx, lake, stored, named - {dataset.name}),
        files=evidence.files if evidence else (),
        rows=stored.row_count,
    )


def _evidence(tx: Transaction, stored: StoredVersion) -> Evidence | None:
    found = evidence_of_versions(tx, stored.dataset_id, [stored.version]).get(stored.version)
    return None if found is None else Evidence.from_json(get_document(tx, found[0]))


def _snapshot(
    tx: Transaction, lake: str, dataset: RegisteredDataset, stored: StoredVersion
) -> TableSnapshot:
    return TableSnapshot(
        location=located(lake, dataset.location),
        table_id=stored.table_id,
        commit=shown_at(tx, dataset.dataset_id, stored.version),
    )


def _references(
    tx: Transaction, lake: str, stored: StoredVersion, named: set[DatasetName]
) -> tuple[InputPin, ...]:
    """Datasets without a published version then are omitted; their measures report it."""
    if not named:
        return ()
    pinned = _pinned(tx, stored.run_id)
    found = [pinned.get(name) or _then(tx, lake, stored, name) for name in named]
    return tuple(sorted(filter(None, found), key=lambda pin: pin.input.dataset))


def _pinned(tx: Transaction, run_id: str) -> dict[DatasetName, InputPin]:
    try:
        plan = opening_of(tx, run_id).plan
    except (UnknownRun, ValidationError):
        return {}
    return {pin.input.dataset: pin for pin in plan.references}


def _then(tx: Transaction, lake: str, stored: StoredVersion, name: DatasetName) -> InputPin | None:
    dataset, run = current_definition(tx, name), None
    if dataset is not None:
        run = run_row(tx, stored.run_id)
    if dataset is None or run is None:
        return None
    shown = pointer(tx, dataset.dataset_id, run.start_time)
    if shown is None:
        return None
    version = require_version(tx, dataset.dataset_id, shown.version)
    return InputPin(
        input=InputVersion(dataset=name, dataset_id=dataset.dataset_id, version=version.version),
        snapshot=_snapshot(tx, lake, dataset, version),
        table_schema=version.table_schema,
    )
