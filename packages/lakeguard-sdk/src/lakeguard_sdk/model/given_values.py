"""Values of table rows as they were given, beside the definitions that were made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

DefinitionKey = tuple[str, str]
"""Kind and name of a definition."""


class GivenRow(NamedTuple):
    """A loaded row, and the definition that it is about."""

    definition: DefinitionKey
    table: str
    member: tuple[str, ...]
    """Which row of the definition in this table, such as a column; empty if there is only one."""
    values: Mapping[str, str]
    """The texts by column, without NULLs."""


class GivenValue(NamedTuple):
    """A value that a row gave in another form than an export writes."""

    table: str
    member: tuple[str, ...]
    column: str
    ours: str | None
    """What the export would write. The given text stands for it, and for nothing else."""
    given: str


GivenValues = Mapping[DefinitionKey, tuple[GivenValue, ...]]
