"""Files of one batch whose columns differ: which of them may stand beside each other.

After a column was added to a definition, old files lack it. In them it is NULL, where it may be.
But a column that is misspelt lacks too: so no file may lack a column that others have, and have
one instead that nobody declared.
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
    """A file that cannot stand beside the others; says which and why."""


@dataclass(frozen=True)
class Declared:
    """What the dataset says of the columns of its files."""

    names: tuple[str, ...]
    optional: frozenset[str] = frozenset()
    """Columns that a file may lack."""
    open: bool = True
    """Whether other columns may be there in some files: a transform would have to know."""

    @classmethod
    def of(cls, plan: RunPlan) -> Declared:
        names, load = plan.batch_schema.names, plan.load
        if plan.transform:
            return cls(names, open=False)
        needed = {*plan.required, *load.keys, *load.order_by, *load.partition_by}
        needed |= {*plan.partition_by, load.watermark, load.operation, load.effective}
        return cls(names, frozenset(names) - needed)


Columns = Mapping[str, tuple[str, ...]]
"""The names of a file's columns, by its path."""


def joint_columns(files: Columns, declared: Declared) -> tuple[str, ...]:
    """Every column of every file, each once; ``Misfit`` where one lacks what it must have."""
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
        return  # the verdict on the schema is about it
    others = [names for names in kinds if name in names]
    told = f"{kinds[held]} has no column {name!r}, which {kinds[others[0]]} has"
    if name not in declared.optional:
        raise Misfit(told)
    if odd := _undeclared(held, declared).difference(*others):
        raise Misfit(f"{told}, but {min(odd)!r}, which is not declared")


def _undeclared(names: Iterable[str], declared: Declared) -> set[str]:
    return set(names) - set(declared.names)


def with_absent_keys(found: tuple[str, ...], declared: Declared) -> tuple[str, ...]:
    """The keys found, and those that may be absent from every line, as NULL is written in JSON.

    Not where a key is not declared: one may be the other, misspelt.
    """
    if not found or _undeclared(found, declared):
        return found
    return (*found, *(n for n in declared.names if n in declared.optional and n not in found))


# Raw names of a source's files under the names that the dataset declares.


class SameName(ValueError):
    """Two raw names have one clean name; says which."""


def clean_names(raw: tuple[str, ...], declared: tuple[str, ...]) -> tuple[str, ...]:
    """A name that is declared stays; any other is cleaned. ``SameName`` where two become one."""
    names: dict[str, str] = {}
    for name in raw:
        clean = name if name in declared else clean_column(name) or name
        if twin := names.get(clean):
            raise SameName(f"columns {twin!r} and {name!r} are both {clean!r} when cleaned")
        names[clean] = name
    return tuple(names)


def with_clean_names(
    batch: Batch, build: SourceBuild, declared: TableSchema, dataset: str
) -> Batch:
    """The same rows; columns that are declared under their clean names have those."""
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
