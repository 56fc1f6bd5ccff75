"""Windows of backfills."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NoWindow
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from lakeguard_sdk.model.row_ranges import RowRange, window_over
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.model.windows import window_bounds, window_problem
from lakeguard_sdk.types.schema import INTEGERS

_ORDERED = ("date", "timestamp", "timestamp_ntz", *INTEGERS)


def chosen_window(
    dataset: DatasetDefinition, definitions: Definitions, start: str, end: str, by: str | None
) -> Window:
    """Over the given column, else the only ordered partition column, else the watermark;
    ``NoWindow`` if that is ambiguous or not possible."""
    target = next((one for one in definitions.targets if one.target == dataset.target), None)
    column = by or _column(dataset, dataset.partition_columns(target))
    window = Window(column=column, start=start, end=end)
    if problem := window_problem(window, dataset.declared):
        raise NoWindow(dataset=dataset.dataset, reason=problem)
    return window


def partition_windows(dataset: DatasetDefinition, keys: Sequence[str]) -> list[Window]:
    """One per partition, sorted by value; ``NoWindow`` for a partition without one."""
    windows = []
    for key in keys:
        try:
            window = window_over(RowRange(partitions=(key,)), dataset.declared)
        except ValueError as error:
            raise NoWindow(dataset=dataset.dataset, reason=str(error)) from None
        if window is None:
            reason = f"partition {key} is not of a column with windows"
            raise NoWindow(dataset=dataset.dataset, reason=reason)
        if problem := window_problem(window, dataset.declared):
            raise NoWindow(dataset=dataset.dataset, reason=problem)
        windows.append(window)
    return sorted(set(windows), key=lambda window: _order(window, dataset))


def _order(window: Window, dataset: DatasetDefinition) -> tuple[str, Any]:
    data_type = str(dataset.declared.type_of(window.column))
    return window.column, window_bounds(window, data_type)[0]


def again_command(name: DatasetName, window: Window | None) -> str:
    """The command that rebuilds a dataset, or a window of it."""
    return f"lakeguard run {name}" if window is None else backfill_command(name, window)


def backfill_command(name: DatasetName, window: Window) -> str:
    """The command that backfills the window."""
    start, end, column = map(shlex.quote, (window.start, window.end, window.column))
    return f"lakeguard backfill {name} --from {start} --to {end} --by {column}"


def _column(dataset: DatasetDefinition, partition_by: tuple[str, ...]) -> str:
    ordered = _with_order(dataset)
    partitions = [name for name in partition_by if name in ordered]
    if len(partitions) == 1:
        return partitions[0]
    if not partitions and dataset.load.watermark:
        return dataset.load.watermark
    named = ", ".join(partitions or ordered) or "no ordered column"
    raise NoWindow(dataset=dataset.dataset, reason=f"choose a column with --by: {named}")


def _with_order(dataset: DatasetDefinition) -> list[str]:
    return [column.name for column in dataset.columns if column.type in _ORDERED]
