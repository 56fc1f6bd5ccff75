"""Files of one batch whose columns differ: which of them may stand beside each other.

After a column was added to a definition, old files lack it. In them it is NULL, where it may be.
But a column that is misspelt lacks too: so no file may lack a column that others have, and have
one instead that nobody declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lakeguard_sdk.run import RunPlan


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
