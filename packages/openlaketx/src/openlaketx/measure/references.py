"""The rows of other datasets that keys refer to."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.storage import join
from openlaketx.extract.pinned_input import files_to_read
from openlaketx.measure.subject import Referenced


def referenced_rows(plan: RunPlan, shown: Sequence[str]) -> dict[DatasetName, Referenced]:
    """Each at its pinned version; the dataset itself as its files will be ``shown``."""
    own = tuple(join(plan.location, path) for path in shown)
    found = {plan.dataset: Referenced(own, plan.table_schema)}
    for pin in plan.references:
        files = tuple(files_to_read(pin, str(plan.dataset)))
        found[pin.input.dataset] = Referenced(files, pin.table_schema)
    return found
