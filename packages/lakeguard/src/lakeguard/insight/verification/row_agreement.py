"""ROW: State and ledger hold the same rows, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Text, select

from lakeguard.insight.verification.outbox import waiting_digests, waiting_runs, waiting_topics
from lakeguard.insight.verification.row_sides import LedgerSide, state_digests, state_rows_with
from lakeguard.relay.rows import PlainRow
from lakeguard.relay.tables import (
    BY_RUN,
    CURRENT,
    EXECUTIONS,
    ORDINAL,
    LedgerTable,
)
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import run_history
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.model.verification import Finding, FindingKind, RowChange

_SHOWN = 60
"""Longest value shown in full; longer ones are shown by length and hash."""


@dataclass(frozen=True)
class StateSide:
    """The State's rows of one table, and which of them the ledger must have."""

    table: LedgerTable
    expected: ColumnElement[bool] | None
    """None if the ledger cannot have it yet."""
    settled: int
    held: set[bytes]
    waiting: set[bytes]


@dataclass
class Compared:
    """One table compared."""

    findings: list[Finding]
    strange: dict[int, list[str]] = field(default_factory=dict)
    """Ledger rows that the State lacks, by batch."""
    recorded: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Batch and place in it of each of those rows."""
    changes: dict[str, RowChange] = field(default_factory=dict)
    """What became of a row."""


def state_side(state: OrganisationState, table: LedgerTable, settled: int) -> StateSide:
    """Read before the ledger, which can then only have more, and after ``settled`` was known, so
    that those batches are in it."""
    with state.read() as tx:
        expected = _expected(tx, table, settled)
        return StateSide(
            table=table,
            expected=expected,
            settled=settled,
            held=set() if expected is None else set(state_digests(tx, table, expected)),
            waiting=waiting_digests(tx, table.name, settled),
        )


def compare(organisation: OrganisationState, state: StateSide, ledger: LedgerSide) -> Compared:
    table, held, compared = state.table, state.held, Compared([])
    if state.expected is None or _is_newer(table, ledger, state.settled):
        return compared
    recorded = set(ledger.digests)
    lost = held - recorded - state.waiting
    strange = [] if recorded <= held else _strange(ledger, held, state.settled)
    if lost or strange or len(recorded) != len(ledger.digests):
        with organisation.read() as tx:
            found = state_rows_with(tx, table, state.expected, lost)
            rows = list(found) if lost else []
        compared.findings += _differences(ledger, rows, strange)
        kept = {_place(table, row) for row in rows}
        for place, row in zip(strange, ledger.rows(strange), strict=True):
            named = _place(table, row)
            ordinal = ledger.data[ORDINAL][place].as_py()
            compared.recorded[named] = (ledger.batches[place], ordinal)
            compared.changes[named] = RowChange.EDITED if named in kept else RowChange.DELETED
            compared.strange.setdefault(ledger.batches[place], []).append(named)
    return compared


def _expected(tx: Transaction, table: LedgerTable, settled: int) -> ColumnElement[bool] | None:
    """Which rows the ledger must have; None if it cannot have them yet."""
    columns = table.source.c
    ours: ColumnElement[bool] = columns.org_id == tx.org_id
    if table.name in CURRENT:
        waiting = waiting_topics(tx, settled) & set(CURRENT[table.name])
        return None if waiting else ours
    if table.name in BY_RUN:
        run = columns[BY_RUN[table.name]]
        ours &= _has_ended(tx.org_id, table)
        coming = waiting_runs(tx, settled, table.name)
        if coming:
            ours &= run.not_in(coming)
    return ours


def _has_ended(org_id: str, table: LedgerTable) -> ColumnElement[bool]:
    """Ended executions and recorded runs only."""
    if table.name == EXECUTIONS:
        return table.source.c.end_time.is_not(None)
    ended = select(run_history.c.run_id).where(run_history.c.org_id == org_id)
    return table.source.c[BY_RUN[table.name]].in_(ended)


def _is_newer(table: LedgerTable, side: LedgerSide, settled: int) -> bool:
    """Whether a view was rewritten after the State was read."""
    return table.name in CURRENT and max(side.batches, default=0) > settled


def _strange(side: LedgerSide, held: set[bytes], settled: int) -> list[int]:
    recorded = zip(side.digests, side.batches, strict=True)
    return [
        place
        for place, (digest, batch) in enumerate(recorded)
        if digest not in held and batch <= settled
    ]


def _differences(
    side: LedgerSide, rows: Sequence[PlainRow], strange: Sequence[int]
) -> Iterator[Finding]:
    table = side.table
    here = _by_key(table, rows)
    there = _by_key(table, side.rows(strange))
    for key, row in here.items():
        other = there.pop(key, None)
        if other is None:
            yield _finding(_place(table, row), "in the State, but not in the ledger")
        else:
            yield _finding(_place(table, row), _changed(table, row, other))
    for row in there.values():
        yield _finding(_place(table, row), "in the ledger, but gone from the State")
    yield from _doubles(side)


def _doubles(side: LedgerSide) -> Iterator[Finding]:
    first: dict[bytes, int] = {}
    for place, digest in enumerate(side.digests):
        before = first.setdefault(digest, place)
        if before != place:
            (row,) = side.rows([place])
            batches = f"{side.batches[before]} and {side.batches[place]}"
            message = f"expected once in the ledger, found again (batches {batches})"
            yield _finding(_place(side.table, row), message)


def _by_key(table: LedgerTable, rows: Iterable[PlainRow]) -> dict[Any, PlainRow]:
    at = [table.columns.index(name) for name in _key_columns(table)]
    return {tuple(row[index] for index in at): row for row in rows}


def _changed(table: LedgerTable, here: PlainRow, there: PlainRow) -> str:
    named = zip(table.columns, here, there, strict=True)
    differing = [
        f"{name} is {_shown(table, name, mine)}, the ledger has {_shown(table, name, other)}"
        for name, mine, other in named
        if (mine, type(mine)) != (other, type(other))
    ]
    return "; ".join(differing)


def _shown(table: LedgerTable, name: str, value: Any) -> str:
    text = "null" if value is None else str(value)
    if len(text) <= _SHOWN and not isinstance(table.source.columns[name].type, Text):
        return text
    return f"{len(text):,} characters ({hash_bytes(text.encode())[:15]}…)"


def _place(table: LedgerTable, row: PlainRow) -> str:
    named = dict(zip(table.columns, row, strict=True))
    return f"{table.name} {', '.join(str(named[name]) for name in _key_columns(table))}"


def _finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.ROW, place=place, message=message)


# Row keys: the primary key of a table, and the key columns of views.

_OF_VIEWS: dict[str, tuple[str, ...]] = {
    "dataset_registry": ("dataset_id",),
    "quality_rules": ("rule_id",),
    "policy_rules": ("policy_id",),
    "source_systems": ("source_system_id",),
    "schema_compatibility_rules": ("profile_name",),
    "dq_rule_catalog": ("rule_name",),
    "md_jobs": ("job_id",),
    "md_jobs_det": ("job_id", "detail_name"),
    "md_jobconfig": ("job_id", "config_name"),
    "md_tgt_ctrl": ("target_id",),
    "md_tgt_det": ("target_id", "detail_name"),
    "md_src_ctrl": ("source_id",),
    "md_src_det": ("source_id", "detail_name"),
    "md_src_tgt_ctrl": ("source_id", "target_id"),
    "md_datasets": ("dataset_id",),
    "source_objects": ("source_object_id",),
    "source_object_columns": ("source_object_id", "column_name"),
    "promotion_current": ("dataset_id", "from_layer", "to_layer"),
    "md_job_execution": ("execution_id",),
    "run_audit": ("run_id",),
    "schema_history": ("run_id",),
    "schema_change_log": ("run_id", "change_ordinal"),
    "data_quality_results": ("run_id", "check_ordinal"),
}


def _key_columns(table: LedgerTable) -> tuple[str, ...]:
    return tuple(column.name for column in table.source.primary_key) or _OF_VIEWS[table.name]
