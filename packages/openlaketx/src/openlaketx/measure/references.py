"""The rows of other datasets that keys refer to."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.run import InputPin, RunPlan
from openlaketx.engine.delta_table import Values
from openlaketx.extract.pinned_input import files_to_read, values_left_to_log
from openlaketx.measure.subject import Referenced


def referenced_rows(
    plan: RunPlan, shown: Sequence[str], lacking: Values
) -> dict[DatasetName, Referenced]:
    """Each at its pinned version; the dataset itself as its files will be ``shown``.

    With what the log says of columns that a file may lack, as all other readers are told.
    """
    own = Referenced(plan.location, tuple(shown), plan.table_schema, lacking)
    return {plan.dataset: own} | pinned_rows(plan.references, plan.dataset)


def pinned_rows(pins: Sequence[InputPin], dataset: DatasetName) -> dict[DatasetName, Referenced]:
    """Datasets that keys of ``dataset`` refer to, each at its pinned version."""
    return {pin.input.dataset: _pinned_rows(pin, str(dataset)) for pin in pins}


def _pinned_rows(pin: InputPin, dataset: str) -> Referenced:
    location = pin.snapshot.location
    root = f"{location.rstrip('/')}/"
    paths = tuple(file.removeprefix(root) for file in files_to_read(pin, dataset))
    return Referenced(location, paths, pin.table_schema, values_left_to_log(pin, paths))
