"""Row ranges of a dataset: all rows, some partitions, or a window.

Containment is conservative: False if it cannot be proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.partitions import LONGEST_KEY, partition_key, partition_values
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.model.windows import WINDOW_TYPES, window_bounds
from lakeguard_sdk.types.schema import TableSchema


class RowRange(FrozenModel):
    """Partitions or a window; with neither, the whole dataset."""

    partitions: tuple[str, ...] = ()
    window: Window | None = None

    @property
    def whole(self) -> bool:
        return not self.partitions and self.window is None

    @property
    def pieces(self) -> tuple[RowRange, ...]:
        """Ranges that can be rebuilt independently."""
        if len(self.partitions) < 2:
            return (self,)
        return tuple(RowRange(partitions=(key,)) for key in self.partitions)

    def describe(self) -> str:
        if self.window is not None:
            return f"{self.window.column} from {self.window.start} to {self.window.end}"
        return ", ".join(self.partitions) or "all of it"


WHOLE = RowRange()


def lies_within(inner: RowRange, outer: RowRange, schema: TableSchema) -> bool:
    """Whether every row of ``inner`` is in ``outer``."""
    if outer.whole:
        return True
    if inner.whole:
        return False
    return all(_piece_within(piece, outer, schema) for piece in inner.pieces)


def carried_over(reach: RowRange, partition_by: Sequence[str], watermark: str) -> RowRange:
    """The range in a dependent dataset: on the same column, otherwise all rows."""
    if reach.window is not None:
        known = reach.window.column in (*partition_by, watermark)
        return reach if known else WHOLE
    pieces = [_carried(key, partition_by) for key in reach.partitions]
    if not all(pieces):
        return WHOLE
    return RowRange(partitions=tuple(sorted({str(key) for key in pieces})))


def window_over(reach: RowRange, schema: TableSchema) -> Window | None:
    """The smallest window that covers the range; None if there is none."""
    if reach.whole or reach.window is not None:
        return reach.window
    held = [_values(key) for key in reach.partitions]
    for column in held[0]:
        data_type = schema.type_of(column)
        values = [values.get(column) for values in held]
        if data_type in WINDOW_TYPES and all(values):
            return _spanning(column, str(data_type), [str(value) for value in values])
    return None


def joined(reaches: Iterable[RowRange]) -> RowRange:
    """The union; several ranges with a window among them become the whole dataset."""
    found = list(dict.fromkeys(reaches))
    if len(found) == 1:
        return found[0]
    if any(reach.whole or reach.window for reach in found):
        return WHOLE
    return RowRange(partitions=tuple(sorted({key for reach in found for key in reach.partitions})))


def _piece_within(piece: RowRange, outer: RowRange, schema: TableSchema) -> bool:
    if outer.window is None:
        return bool(piece.partitions) and piece.partitions[0] in outer.partitions
    if piece.window is not None:
        return _window_within(piece.window, outer.window, schema)
    value = _values(piece.partitions[0]).get(outer.window.column)
    if value is None:
        return False
    own = Window(column=outer.window.column, start=value, end=value)
    return _window_within(own, outer.window, schema)


def _window_within(inner: Window, outer: Window, schema: TableSchema) -> bool:
    data_type = schema.type_of(outer.column)
    if inner.column != outer.column or data_type not in WINDOW_TYPES:
        return False
    try:
        first, last = window_bounds(inner, str(data_type))
        start, end = window_bounds(outer, str(data_type))
        return bool(start <= first and last <= end)  # type: ignore[operator]
    except (ValueError, TypeError):
        return False


def _carried(key: str, partition_by: Sequence[str]) -> str | None:
    """The same partition, or the coarser one that contains it."""
    values = _values(key)
    shared = bool(partition_by) and all(name in values for name in partition_by)
    return partition_key(values, partition_by) if shared else None


def _values(key: str) -> dict[str, str | None]:
    """Empty for a truncated key."""
    return {} if len(key) == LONGEST_KEY and key[-65] == "~" else partition_values(key)


def _spanning(column: str, data_type: str, values: list[str]) -> Window:
    def comparable(value: str) -> object:
        return window_bounds(Window(column=column, start=value, end=value), data_type)[0]

    ordered = sorted(values, key=comparable)  # type: ignore[arg-type]
    return Window(column=column, start=ordered[0], end=ordered[-1])
