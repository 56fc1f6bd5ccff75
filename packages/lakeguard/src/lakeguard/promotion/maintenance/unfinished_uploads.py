"""Multipart uploads that were never completed. Listings do not show their parts, but the store
charges for them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import RegisteredDataset, current_definition, dataset_names
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.table_operations import Removal, RemovalKind
from lakeguard_sdk.storage.storage import is_below, is_remote
from lakeguard_sdk.storage.unfinished_uploads import UnfinishedUpload, unfinished_uploads

OLD = timedelta(days=1)
"""Longer than any upload of a file takes."""


def upload_places(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset
) -> tuple[str, tuple[str, ...]] | None:
    """The lake and the tables in it, if this dataset counts what belongs to no table: the first by
    name does, so that each upload is counted once."""
    if not is_remote(context.lake):
        return None
    names = sorted(dataset_names(tx))
    if not names or names[0] != dataset.name:
        return None
    found = (current_definition(tx, name) for name in names)
    return context.lake, tuple(context.location_of(one) for one in found if one is not None)


def uploads_to_abort(
    context: PlaneContext, table: str, rest: tuple[str, tuple[str, ...]] | None
) -> Iterator[Removal]:
    """Those older than a day below the table, and those of ``rest`` that are below no table."""
    until = context.clock() - OLD
    found = unfinished_uploads(table, until)
    if rest is not None:
        lake, tables = rest
        found += [one for one in unfinished_uploads(lake, until) if not _in_one(one, tables)]
    if found:
        yield Removal(
            kind=RemovalKind.UPLOADS,
            paths=tuple(upload.location for upload in found),
            bytes=sum(upload.size for upload in found),
        )


def _in_one(upload: UnfinishedUpload, tables: tuple[str, ...]) -> bool:
    return any(is_below(upload.location, table) for table in tables)
