"""What a look at files shows: enough to propose a definition, never more than was seen."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.noun import Noun
from lakeguard_sdk.schema import DataType
from lakeguard_sdk.words import SourceFormat


class SketchColumn(Noun):
    """A column, under the name that a dataset gives it."""

    name: str
    type: DataType
    """The narrowest offered that every value seen fits; a string where there was none."""
    found_as: str
    """The name in the files."""
    nulls: int
    """Rows seen without a value."""
    values: tuple[str, ...] = ()
    """Every text in it, in order, where they are few and every row was asked."""


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
