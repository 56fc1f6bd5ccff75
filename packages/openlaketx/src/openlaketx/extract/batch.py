"""The result of extraction: a lazy DataFrame and its origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.evidence import InputVersion, SourcePosition
from lakeguard_sdk.types.schema import TableSchema

Order = tuple[tuple[str, ...], ...]
"""Groups of files, latest last; files of one group have equal rank."""


@dataclass(frozen=True)
class Batch:
    """The rows of one run, unchanged from their origin."""

    frame: DataFrame
    live: TableSchema
    inputs: tuple[InputVersion, ...]
    position: SourcePosition | None
    explain: Callable[[Exception], LakeGuardError]
    """Translates a Spark error raised while these rows are computed."""
    confirm: Callable[[], None]
    """Raises if the origin changed during the read."""
    rejected: int = 0
    """Number of malformed lines, quarantined and not among the rows."""
    place_of: Callable[[str, str, str], str] | None = None
    """Location of a value by file, column and text; None if the rows are not from files."""
    order: Order = ()
    """Order of the files, if it decides which row of a key wins. The frame then has an extra column
    with each row's file."""


def name_problem(names: tuple[str, ...]) -> str | None:
    """Why these cannot be column names, or None; engines compare names case-insensitively."""
    seen: dict[str, str] = {}
    for name in names:
        if not name.strip():
            return "a column has no name"
        if twin := seen.get(name.casefold()):
            return (
                f"duplicate column {name!r}"
                if twin == name
                else f"columns {twin!r} and {name!r} differ in case only"
            )
        seen[name.casefold()] = name
    return None
