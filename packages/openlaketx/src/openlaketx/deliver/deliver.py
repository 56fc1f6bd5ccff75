"""Delivering what is published: what a target keeps for its readers follows the pointer.

The governed table stays the truth. Whoever delivers asks for the published version only once it
is alone, so that a slow delivery never puts an older version in the place of a newer one.
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
    """Bring the version that is published now to the target's readers; None where it was."""
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
    raise failed(shown, "its target names no database")
