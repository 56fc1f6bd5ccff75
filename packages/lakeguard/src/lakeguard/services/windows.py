"""Which column the window of a back-fill is about."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from lakeguard.promotion.opening.load_checks import partition_columns
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NoWindow
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from lakeguard_sdk.model.row_ranges import Reach, window_over
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.model.windows import window_bounds, window_problem
from lakeguard_sdk.types.schema import INTEGERS

_ORDERED = ("date", "timestamp", "timestamp_ntz", *INTEGERS)


def chosen_window(
    dataset: DatasetDefinition, definitions: Definitions, start: str, end: str, by: str | None
) -> Window:
    """By the column named, else by the only partition column with an order, else by the
    watermark; ``NoWindow`` where that leaves a doubt or rows cannot be chosen so."""
    target = next((one for one in definitions.targets if one.target == dataset.target), None)
    column = by or _column(dataset, partition_columns(dataset, target))
    window = Window(column=column, start=start, end=end)
    if problem := window_problem(window, dataset.declared):
        raise NoWindow(dataset=dataset.dataset, reason=problem)
    return window


def partition_windows(dataset: DatasetDefinition, keys: Sequence[str]) -> list[Window]:
    """One for each partition, in the order of their values; ``NoWindow`` where one has none."""
    windows = []
    for key in keys:
        try:
            window = window_over(Reach(partitions=(key,)), dataset.declared)
        except ValueError as error:
            raise NoWindow(dataset=dataset.dataset, reason=str(error)) from None
        if window is None:
            reason = f"partition {key} is of no column that has a window"
            raise NoWindow(dataset=dataset.dataset, reason=reason)
        if problem := window_problem(window, dataset.declared):
            raise NoWindow(dataset=dataset.dataset, reason=problem)
        windows.append(window)
    return sorted(set(windows), key=lambda window: _order(window, dataset))


def _order(window: Window, dataset: DatasetDefinition) -> tuple[str, Any]:
    data_type = str(dataset.declared.type_of(window.column))
    return window.column, window_bounds(window, data_type)[0]


def again_command(name: DatasetName, window: Window | None) -> str:
    """What to type to build a dataset again, or a window of it."""
    return f"lakeguard run {name}" if window is None else backfill_command(name, window)


def backfill_command(name: DatasetName, window: Window) -> str:
    """What to type for the same window."""
    start, end, column = map(shlex.quote, (window.start, window.end, window.column))
    return f"lakeguard backfill {name} --from {start} --to {end} --by {column}"


def _column(dataset: DatasetDefinition, partition_by: tuple[str, ...]) -> str:
    ordered = _with_order(dataset)
    partitions = [name for name in partition_by if name in ordered]
    if len(partitions) == 1:
        return partitions[0]
    if not partitions and dataset.load.watermark:
        return dataset.load.watermark
    named = ", ".join(partitions or ordered) or "none with an order"
    raise NoWindow(dataset=dataset.dataset, reason=f"say by which column with --by: {named}")


def _with_order(dataset: DatasetDefinition) -> list[str]:
    return [column.name for column in dataset.columns if column.type in _ORDERED]
