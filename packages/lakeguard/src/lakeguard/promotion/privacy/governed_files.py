"""Files of governed tables that a run read past the gate, by the paths that its plan shows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import select

from lakeguard.ledger.openings import has_run, lineages_of_runs
from lakeguard.ledger.versions import last_versions, pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.privacy.editions import Editions
from lakeguard.promotion.records.open_runs import OpenRun
from lakeguard.registry.queries import datasets_of_targets
from lakeguard.registry.store import current_targets, dataset_by_id
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import dataset_registry
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import (
    NO_FILES,
    ROWS_OF_DATABASE,
    BatchLineage,
    latest_versions,
)
from lakeguard_sdk.storage.reserved_places import DELIVERED
from lakeguard_sdk.storage.storage import is_remote, join, located, table_uri

_RESERVED = ("quarantine", "landing", "_lakeguard", ".lakeguard")
"""Folders of the lake that may hold rows of any dataset."""
_ELSEWHERE = re.compile(r"(abfss?|adl|dbfs|gs|hdfs|https?|s3[an]?|wasbs?):/")
"""Paths on servers, which no lake in a file system of the machine has. Those of a lake in an object
store may be written in several ways, so that only its own way is known."""
_STORE = "s3://"
_OF_PROCESSES = ("/proc", "/dev")
"""Folders whose paths stand for other files in each process."""


@dataclass
class _Found:
    """What the paths of one run lead to."""

    inputs: dict[InputVersion, None] = field(default_factory=dict)
    read: dict[InputVersion, None] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    """Paths of datasets that have a version."""
    unknown: set[str] = field(default_factory=set)
    """Paths that may hold rows which no version has."""


def with_governed_files(
    tx: Transaction, context: PlaneContext, run: OpenRun, lineage: BatchLineage
) -> BatchLineage:
    """Datasets whose files were read directly, in the table or as delivered, are inputs at their
    published version. The files may be those of any run, also of an earlier or a blocked one: all
    that the runs of the dataset read counts as read. Of an origin that is not understood, every
    dataset may have been read; of rows of a database, every one that is delivered to a database."""
    paths = [place for place in lineage.outside if place.startswith(("/", _STORE))]
    anything = any(_may_be_anywhere(place, context.lake) for place in lineage.outside)
    served = _in_databases(tx) if ROWS_OF_DATABASE in lineage.outside else frozenset()
    if not paths and not anything and not served:
        return lineage
    found, editions = _Found(), Editions(tx)
    reserved = [table_uri(join(context.lake, folder)) for folder in _RESERVED]
    for location, dataset_id, name in _locations(tx, context):
        places = (location, f"{location.rstrip('/')}{DELIVERED}", *reserved)
        below = {path for path in paths if any(_overlap(path, place) for place in places)}
        possible = below or anything or dataset_id in served
        shown = pointer(tx, dataset_id) if possible else None
        if shown is not None:
            version = InputVersion(dataset=name, dataset_id=dataset_id, version=shown.version)
            found.read[version] = None
            found.inputs |= dict.fromkeys([version] if below else [])
            found.known |= below
        elif below and has_run(tx, dataset_id):
            found.unknown |= below
            if dataset_id != run.dataset.dataset_id:
                _refuse_tagged(tx, run, dataset_id, min(below))
        if below:
            found.read |= dict.fromkeys(_written(tx, dataset_id, name, editions))
    return lineage.model_copy(
        update={
            "inputs": tuple(dict.fromkeys((*lineage.inputs, *found.inputs))),
            "read": tuple(dict.fromkeys((*lineage.read, *found.read))),
            "outside": tuple(
                place
                for place in lineage.outside
                if place not in found.known or place in found.unknown
            ),
        }
    )


def _in_databases(tx: Transaction) -> frozenset[str]:
    """Datasets that are delivered to a database."""
    found = current_targets(tx).values()
    names = [item.target for item in found if item.format is TargetFormat.POSTGRESQL]
    rows = (
        tx.execute(datasets_of_targets(tx.org_id, piece, tx.dialect.name))
        for piece in in_pieces(names)
    )
    return frozenset(row.dataset_id for piece in rows for row in piece)


def _written(
    tx: Transaction, dataset_id: str, name: str, editions: Editions
) -> tuple[InputVersion, ...]:
    """What the files of a dataset may be made of, of whichever run they are."""
    own = (
        InputVersion(dataset=name, dataset_id=dataset_id, version=version)
        for version in last_versions(tx, dataset_id)
    )
    above = (
        item
        for lineage in lineages_of_runs(tx, dataset_id)
        for item in (*lineage.inputs, *lineage.read)
    )
    return latest_versions((*own, *above), editions)


def _refuse_tagged(tx: Transaction, run: OpenRun, dataset_id: str, path: str) -> None:
    """Tags are found by version: without one, those that the dataset declares would be lost."""
    definition = dataset_by_id(tx, dataset_id).definition
    if any(column.tags for column in definition.columns):
        reason = (
            f"it read {path}, which may hold rows of {definition.dataset} that were never published"
        )
        raise NotApproved(run=run.plan.ticket.run_id, reason=reason)


def _may_be_anywhere(place: str, lake: str) -> bool:
    """Neither a path that every process reads alike, nor known to read no file of the lake."""
    if place.startswith("/"):
        return any(_below(path, _OF_PROCESSES) for path in (_plain(place), os.path.realpath(place)))
    if place in NO_FILES or place.startswith(_STORE):
        return False
    return is_remote(lake) or not _ELSEWHERE.match(place)


def _plain(path: str) -> str:
    return os.path.normpath("/" + path.lstrip("/"))


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _locations(tx: Transaction, context: PlaneContext) -> Iterator[tuple[str, str, str]]:
    view = dataset_registry.c
    query = select(view.dataset_id, view.dataset_name, view.location)
    for row in tx.execute(query.where(view.org_id == tx.org_id)):
        yield table_uri(located(context.lake, row.location)), row.dataset_id, row.dataset_name


def _overlap(path: str, location: str) -> bool:
    """Whether one is below the other, links followed."""
    if is_remote(path) or is_remote(location):
        one, other = f"{path.rstrip('/')}/", f"{location.rstrip('/')}/"
        return one.startswith(other) or other.startswith(one)
    one, other = os.path.realpath(path), os.path.realpath(location)
    return os.path.commonpath((one, other)) in (one, other)
