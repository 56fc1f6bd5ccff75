"""Reconciles the columns of several files in one batch.

A file written before a column was added reads NULL in it, if the column is nullable. A misspelt
column is missing too, so a file that lacks a column and has an undeclared one is rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lakeguard_sdk.core.dataset_name import clean_column
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.spark.types import quoted_name
from openlaketx.extract.batch import Batch
from openlaketx.extract.files.file_order import ROW_FILE


class Misfit(ValueError):
    """A file whose columns do not match the others; names the file and the column."""


@dataclass(frozen=True)
class Declared:
    """Columns that the dataset declares for its files."""

    names: tuple[str, ...]
    optional: frozenset[str] = frozenset()
    """Columns that a file may lack."""
    open: bool = True
    """Whether undeclared columns may appear in some files only; False with a transform, which would
    have to know them."""

    @classmethod
    def of(cls, plan: RunPlan) -> Declared:
        names, load = plan.batch_schema.names, plan.load
        if plan.transform:
            return cls(names, open=False)
        needed = {*plan.required, *load.keys, *load.order_by, *load.partition_by}
        needed |= {*plan.partition_by, load.watermark, load.operation, load.effective}
        return cls(names, frozenset(names) - needed)


Columns = Mapping[str, tuple[str, ...]]
"""Column names by file path."""


def joint_columns(files: Columns, declared: Declared) -> tuple[str, ...]:
    """Union of the columns of all files; ``Misfit`` if a file lacks a required one."""
    every = dict.fromkeys(name for names in files.values() for name in names)
    kinds: dict[frozenset[str], str] = {}
    for path, names in files.items():
        kinds.setdefault(frozenset(names), path)
    for held in kinds:
        for name in every:
            if name not in held:
                _check_lacking(name, held, kinds, declared)
    return tuple(every)


def _check_lacking(
    name: str, held: frozenset[str], kinds: Mapping[frozenset[str], str], declared: Declared
) -> None:
    if declared.open and name not in declared.names:
        return  # the schema check reports it
    others = [names for names in kinds if name in names]
    message = f"{kinds[held]} has no column {name!r}, which {kinds[others[0]]} has"
    if name not in declared.optional:
        raise Misfit(message)
    if odd := _undeclared(held, declared).difference(*others):
        raise Misfit(f"{message}, but has the undeclared column {min(odd)!r}")


def _undeclared(names: Iterable[str], declared: Declared) -> set[str]:
    return set(names) - set(declared.names)


def with_absent_keys(found: tuple[str, ...], declared: Declared) -> tuple[str, ...]:
    """The keys found, plus optional ones absent from every line, as JSON may omit NULLs.

    Not if there is an undeclared key: it may be a misspelt one.
    """
    if not found or _undeclared(found, declared):
        return found
    return (*found, *(n for n in declared.names if n in declared.optional and n not in found))


# Maps the raw column names of source files to declared names.


class SameName(ValueError):
    """Two raw names have the same clean name; names both."""


def clean_names(raw: tuple[str, ...], declared: tuple[str, ...]) -> tuple[str, ...]:
    """Declared names stay, others are cleaned; ``SameName`` if two become equal."""
    names: dict[str, str] = {}
    for name in raw:
        clean = name if name in declared else clean_column(name) or name
        if twin := names.get(clean):
            raise SameName(f"columns {twin!r} and {name!r} both become {clean!r}")
        names[clean] = name
    return tuple(names)


def with_clean_names(
    batch: Batch, build: SourceBuild, declared: TableSchema, dataset: str
) -> Batch:
    """The same rows, with raw names replaced by declared clean names."""
    try:
        names = clean_names(batch.live.names, declared.names)
    except SameName as problem:
        raise SourceUnreadable(source=build.source, reason=str(problem), dataset=dataset) from None
    if names == batch.live.names:
        return batch
    both = list(zip(batch.live.columns, names, strict=True))
    frame = batch.frame.select(
        *(batch.frame[quoted_name(column.name)].alias(name) for column, name in both),
        *([ROW_FILE] if batch.order else []),
    )
    live = TableSchema(columns=tuple(Column(name=name, type=column.type) for column, name in both))
    return replace(batch, frame=frame, live=live)
