"""Preview of source files, as a basis for a proposed definition."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import DataType


class PreviewColumn(FrozenModel):
    """A column, under its cleaned name."""

    name: str
    type: DataType
    """The narrowest type that fits all inspected values; string if there were none."""
    found_as: str
    """The name in the files."""
    nulls: int
    """Inspected rows without a value."""
    profile: ColumnProfile | None = Field(default=None, exclude_if=lambda value: value is None)
    """If requested."""


class SourcePreview(FrozenModel):
    """Preview of files of one format."""

    format: SourceFormat
    options: dict[str, str] = Field(default_factory=dict)
    columns: tuple[PreviewColumn, ...]
    keys: tuple[str, ...] = ()
    """One or two columns that are unique and not null in the inspected rows."""
    files: int
    """Inspected files, of ``files_found``."""
    files_found: int
    rows: int
    bytes: int
    whole: bool
    """Whether all rows of all files were inspected, not only the first of each file."""
    measured: dict[str, MeasureValue] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )
    """Requested measures of the inspected rows, by measure key."""
    unmeasured: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
