"""What extraction hands on: a frame that nothing has computed yet, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.evidence import InputVersion, SourcePosition
from lakeguard_sdk.types.schema import TableSchema

Order = tuple[tuple[str, ...], ...]
"""Files, the latest last; those that stand together count alike."""


@dataclass(frozen=True)
class Batch:
    """The rows of one run, exactly as their origin has them."""

    frame: DataFrame
    live: TableSchema
    inputs: tuple[InputVersion, ...]
    position: SourcePosition | None
    explain: Callable[[Exception], LakeGuardError]
    """What a failure of Spark over these rows means."""
    confirm: Callable[[], None]
    """Raises where the origin changed while it was being read."""
    rejected: int = 0
    """Malformed lines that are not among the rows; they were kept aside."""
    place_of: Callable[[str, str, str], str] | None = None
    """Where a value stands, by file, column and text; None where rows are from no files."""
    order: Order = ()
    """Where it tells which row of a key counts.

    The frame then has a column more, which names each row's file."""


def name_problem(names: tuple[str, ...]) -> str | None:
    """Why these cannot be the names of a table's columns: engines do not tell case apart."""
    seen: dict[str, str] = {}
    for name in names:
        if not name.strip():
            return "a column has no name"
        if twin := seen.get(name.casefold()):
            return (
                f"column {name!r} stands there twice"
                if twin == name
                else f"columns {twin!r} and {name!r} differ in case only"
            )
        seen[name.casefold()] = name
    return None
