"""What is known of a build's SQL once it was read."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard.registry.text.sql_lexing import SqlProblem
from lakeguard_sdk.core.dataset_name import DatasetName


@dataclass(frozen=True)
class TableReference:
    """``layer.name`` as it stands in the text, from ``start`` up to ``end``."""

    dataset: DatasetName
    start: int
    end: int
    aliased: bool


@dataclass(frozen=True)
class SqlFacts:
    tables: tuple[TableReference, ...]
    """In the order of the text."""
    common_tables: frozenset[str]
    """Folded names of the common table expressions."""
    semicolon: int | None
    """Offset of the one that closes the statement."""
    combines: bool
    """Whether it sets the rows of one SELECT beside those of another, as UNION does."""
    problems: tuple[SqlProblem, ...]
    row_by_row: str | None = None
    """The one dataset of which each row makes its own rows, whatever its other rows are."""
    reads_given: bool = False
    """Whether it reads one of the relations that it was given by name."""
