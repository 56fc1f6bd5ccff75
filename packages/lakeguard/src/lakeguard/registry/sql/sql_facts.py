"""Facts about the SQL of a build."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard.registry.text.sql_lexing import SqlProblem
from lakeguard_sdk.core.dataset_name import DatasetName


@dataclass(frozen=True)
class TableReference:
    """``layer.name`` in the text, between the offsets ``start`` and ``end``."""

    dataset: DatasetName
    start: int
    end: int
    aliased: bool


@dataclass(frozen=True)
class KnownTable:
    """A dataset that is read."""

    columns: tuple[str, ...]
    has_more: bool = False
    """Whether it may have columns that are not declared."""


@dataclass(frozen=True)
class RunTime:
    """A call such as ``now()`` or a bare ``current_date`` between the offsets: the run's time."""

    function: str
    """In lower case."""
    start: int
    end: int
    bare: bool
    """Without parentheses; then it is a column where a relation has one of that name."""


@dataclass(frozen=True)
class SqlFacts:
    tables: tuple[TableReference, ...]
    """All in text order."""
    common_tables: frozenset[str]
    """Folded names of the common table expressions."""
    semicolon: int | None
    """Offset of the closing semicolon."""
    combines: bool
    """Whether it has a set operation such as UNION."""
    problems: tuple[SqlProblem, ...]
    row_by_row: str | None = None
    """The dataset whose rows are each processed independently, if there is one."""
    parameters: tuple[str, ...] = ()
    """Names of the ``:name`` parameters, sorted."""
    reads_given: bool = False
    """Whether it reads a relation given by name."""
    run_times: tuple[RunTime, ...] = ()
    """All in text order."""
    undeclared: tuple[tuple[str, SqlProblem], ...] = ()
    """Folded names that must be columns of the tables, such as ``info`` in ``info.email`` and a
    bare ``user``, each with the problem if it is none."""
