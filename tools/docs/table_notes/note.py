"""Notes on a table: its purpose, its invariants and what enforces them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """By the seed that names a table; ours stand beneath them all."""

    METADATA_MODEL = "000"
    ORCHESTRATION = "001"
    RECORDS = "002"
    CONTROL = "003"
    INGESTION = "004"
    OURS = ""


@dataclass(frozen=True)
class Invariant:
    """A sentence that always holds, and what keeps it or shows it.

    ``constraints`` and ``triggers`` are named as the database names them, ``tests`` by node id.
    """

    says: str
    constraints: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableNote:
    """``key`` and ``nullable`` are for views, whose columns cannot say it themselves.

    ``not_in_lake`` says why the lake ledger does not hold it, where it does not; ``unwritten`` is
    a table that stands ready and that nothing of this version writes.
    """

    family: Family
    purpose: str
    invariants: tuple[Invariant, ...]
    key: tuple[str, ...] = ()
    nullable: tuple[str, ...] = ()
    not_in_lake: str = ""
    unwritten: bool = False
