"""Column lineage of a batch, as the data plane reports it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.evidence import InputVersion

ROWS_OF_PROGRAM = "rows created by the program"
CODE_OF_PROGRAM = "code of the program"
ROWS_OF_DATABASE = "rows of a database"
INVISIBLE_PLAN = "a plan that is not visible"
UNREPORTED = "a build that reported no lineage"
ROWS_OF_ADOPTED = "rows of an adopted table"
NO_FILES = frozenset(
    {
        ROWS_OF_PROGRAM,
        CODE_OF_PROGRAM,
        ROWS_OF_DATABASE,
        ROWS_OF_ADOPTED,
        INVISIBLE_PLAN,
        UNREPORTED,
    }
)
"""Origins that are taken to read no file of the lake besides what was read through it. Another
origin without a path may have read any file."""


class SourceColumn(FrozenModel):
    """A column of an input version that values are made of."""

    dataset_id: str
    version: int
    column: str
    any_column: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether it may be any column of the version; its name is empty then."""
    through: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Functions that may mask a value and that every value passed through, in lower case."""


class BatchColumn(FrozenModel):
    """A column of the batch. If it is unknown what it is made of, it may hold anything that was
    read."""

    column: str
    sources: tuple[SourceColumn, ...] = ()
    unknown: bool = Field(default=False, exclude_if=lambda value: not value)
    ancestors: tuple[SourceColumn, ...] = Field(default=(), exclude_if=lambda found: not found)
    """What its sources are made of in turn, where runs reported it. The control plane adds them."""


Edition = Callable[[InputVersion | SourceColumn], Hashable]
"""Equal for versions of a dataset that were built under the same declared tags."""


class BatchLineage(FrozenModel):
    """What every column of a batch is made of. A column that is not listed is unknown."""

    columns: tuple[BatchColumn, ...]
    inputs: tuple[InputVersion, ...] = ()
    """The versions that its rows are made of, those that only filter rows among them."""
    read: tuple[InputVersion, ...] = ()
    """All versions that were read, and may be in an unknown column."""
    outside: tuple[str, ...] = ()
    """Other origins of its rows: paths of files, or words such as "rows created by the program"."""
    by_definition: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether the definition shows what the batch is made of, too: it is a SELECT or a source."""

    def column(self, name: str) -> BatchColumn | None:
        folded = name.casefold()
        return next((item for item in self.columns if item.column.casefold() == folded), None)

    def with_rows_of(self, other: BatchLineage, edition: Edition) -> BatchLineage:
        """The lineage of a table that has the rows of both. Of several versions of a column, the
        latest of each edition is listed: the number of loads does not matter."""
        mine = {item.column.casefold(): item for item in self.columns}
        theirs = {item.column.casefold(): item for item in other.columns}
        columns = tuple(
            _either(mine.get(name), theirs.get(name), edition)
            for name in dict.fromkeys((*mine, *theirs))
        )
        return self.model_copy(
            update={
                "columns": columns,
                "read": latest_versions((*self.read, *other.read, *other.inputs), edition),
                "outside": tuple(sorted({*self.outside, *other.outside})),
            }
        )


def unknown_lineage(
    names: Iterable[str], read: Iterable[InputVersion] = (), outside: str = ""
) -> BatchLineage:
    """Every column may hold anything that was read."""
    found = tuple(dict.fromkeys(read))
    return BatchLineage(
        columns=tuple(BatchColumn(column=name, unknown=True) for name in names),
        inputs=found,
        read=found,
        outside=(outside,) if outside else (),
    )


def latest_versions(read: Iterable[InputVersion], edition: Edition) -> tuple[InputVersion, ...]:
    """One version of each edition of a dataset, the latest."""
    found = {(item.dataset_id, edition(item)): item for item in sorted(read, key=_by_version)}
    return tuple(sorted(found.values(), key=lambda item: (item.dataset_id, item.version)))


def latest_sources(sources: Iterable[SourceColumn], edition: Edition) -> tuple[SourceColumn, ...]:
    """Each column once of each edition, of the latest version."""
    found = {
        (
            source.dataset_id,
            source.column,
            source.any_column,
            source.through,
            edition(source),
        ): source
        for source in sorted(sources, key=_by_version)
    }
    return tuple(sorted(found.values(), key=_by_column))


def _either(one: BatchColumn | None, other: BatchColumn | None, edition: Edition) -> BatchColumn:
    """A column that only one of them has is NULL in the rows of the other."""
    found = [item for item in (one, other) if item is not None]
    return BatchColumn(
        column=found[0].column,
        sources=latest_sources((source for item in found for source in item.sources), edition),
        ancestors=latest_sources((source for item in found for source in item.ancestors), edition),
        unknown=any(item.unknown for item in found),
    )


def _by_version(item: InputVersion | SourceColumn) -> int:
    return item.version


def _by_column(item: SourceColumn) -> tuple[str, str, tuple[str, ...], int]:
    return item.dataset_id, item.column, item.through, item.version
