"""What a look at files shows: enough to propose a definition, never more than was seen."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import DataType


class SketchColumn(Noun):
    """A column, under the name that a dataset gives it."""

    name: str
    type: DataType
    """The narrowest offered that every value seen fits; a string where there was none."""
    found_as: str
    """The name in the files."""
    nulls: int
    """Rows seen without a value."""
    profile: ColumnProfile | None = Field(default=None, exclude_if=lambda told: told is None)
    """What its values look like, where that was asked."""


class SourceSketch(Noun):
    """Files of one kind, as far as they were looked at."""

    format: SourceFormat
    options: dict[str, str] = Field(default_factory=dict)
    columns: tuple[SketchColumn, ...]
    keys: tuple[str, ...] = ()
    """One column or two that are never null and never twice the same in the rows seen."""
    files: int
    """Files looked at, of ``files_found``."""
    files_found: int
    rows: int
    bytes: int
    whole: bool
    """Whether all rows of all files were seen; otherwise the first of each file."""
    measured: dict[str, MeasureValue] = Field(
        default_factory=dict, exclude_if=lambda told: not told
    )
    """By the key of the measure: what was asked of the rows seen."""
    unmeasured: dict[str, str] = Field(default_factory=dict, exclude_if=lambda told: not told)
