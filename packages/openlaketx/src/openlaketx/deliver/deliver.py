"""Delivers the published version to its target.

The governed table stays the source of truth. The published version is read under the delivery lock,
so that a slow delivery never replaces a newer version with an older one.
"""

from __future__ import annotations

from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.model.delivery import Delivery
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.ports import Reader
from openlaketx.deliver.file_sets import FileSet, deliver_files
from openlaketx.deliver.postgresql import Delivered, deliver_to_postgresql
from openlaketx.deliver.published_version import failed, published


def deliver_published(plan: RunPlan, reader: Reader) -> FileSet | Delivered | None:
    """Deliver the currently published version; None if it was delivered already."""
    match plan.format:
        case TargetFormat.DELTA:
            return None
        case TargetFormat.POSTGRESQL:
            return _deliver_table(plan, reader)
        case _:
            return deliver_files(plan, reader)


def _deliver_table(plan: RunPlan, reader: Reader) -> Delivered | None:
    if plan.database is not None:
        table = Delivery(dataset=plan.dataset, load=plan.load, table=plan.database)
        return deliver_to_postgresql(table, reader)
    shown = published(plan.dataset, reader)
    if shown is None:
        return None
    raise failed(shown, "its target has no database")
