"""What the lake ledger holds: which tables, told row by row or written anew, in which columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sqlalchemy import BigInteger, Boolean, Integer, Table

from lakeguard.state import outbox
from lakeguard.state.schema import metadata
from lakeguard.state.tables.metadata import UtcTime
from lakeguard.state.views.view_metadata import view_metadata

BATCH = "ledger_batch"
ORDINAL = "ledger_ordinal"
CHAIN = "audit_chain"

PRIVATE = frozenset(
    {
        "outbox",
        "relay_cursors",
        "plane_identity",
        "users",
        "job_schedules",
        "trigger_cursors",
        "events",
        "event_channels",
        "event_deliveries",
        CHAIN,
    }
)
"""Not told of: the relay's own, people, how far schedules are, and what is told to others. The
chain is written beside what it covers."""

CURRENT: dict[str, tuple[str, ...]] = {
    "dataset_registry": ("dataset_registry_revisions",),
    "quality_rules": ("quality_rules_revisions",),
    "policy_rules": ("policy_rules_revisions",),
    "source_systems": ("source_systems_revisions",),
    "schema_compatibility_rules": ("schema_compatibility_rules_revisions",),
    "dq_rule_catalog": ("dq_rule_catalog_revisions",),
    "md_jobs": ("md_jobs_revisions", "job_switches"),
    "md_jobs_det": ("md_jobs_revisions",),
    "md_jobconfig": ("md_jobs_revisions",),
    "md_tgt_ctrl": ("md_tgt_ctrl_revisions",),
    "md_tgt_det": ("md_tgt_ctrl_revisions",),
    "md_src_ctrl": ("source_systems_revisions",),
    "md_src_det": ("source_systems_revisions",),
    "md_src_tgt_ctrl": ("md_tgt_ctrl_revisions", "source_systems_revisions"),
    "md_datasets": ("dataset_registry_revisions", "md_tgt_ctrl_revisions"),
    "source_objects": (
        "dataset_registry_revisions",
        "quality_rules_revisions",
        "source_systems_revisions",
    ),
    "source_object_columns": ("dataset_registry_revisions", "quality_rules_revisions"),
}
"""Views over definitions, written anew whenever one of these tables gained rows."""

EXECUTIONS = "md_job_execution"
BY_RUN: dict[str, str] = {
    EXECUTIONS: "execution_id",
    "run_audit": "run_id",
    "schema_history": "run_id",
    "schema_change_log": "run_id",
    "data_quality_results": "run_id",
}
"""Views over runs, and the column that names the run: its rows are added when it has ended."""

LATER: dict[str, tuple[str, ...]] = {"data_quality_results": ("samples",)}
"""Columns of those that may be told after the run has ended; the ledger has them elsewhere."""


@dataclass(frozen=True)
class LedgerTable:
    """One table of the ledger; ``columns`` are in the order in which it shows them."""

    name: str
    source: Table
    columns: tuple[str, ...]

    def kind_of(self, column: str) -> str:
        """``time``, ``flag``, ``number`` or ``text``."""
        kind = self.source.columns[column].type
        if isinstance(kind, UtcTime):
            return "time"
        if isinstance(kind, Boolean):
            return "flag"
        return "number" if isinstance(kind, BigInteger | Integer) else "text"


@cache
def fact_tables() -> dict[str, LedgerTable]:
    """Tables that are told row by row; a table stands after those that it refers to."""
    told = (table for table in metadata.sorted_tables if table.name not in PRIVATE)
    return {table.name: _ledger_table(table) for table in told}


@cache
def derived_tables() -> dict[str, LedgerTable]:
    """Views that the ledger holds too."""
    return {name: _ledger_table(view_metadata.tables[name]) for name in (*CURRENT, *BY_RUN)}


@cache
def chain_table() -> LedgerTable:
    return _ledger_table(metadata.tables[CHAIN])


def ledger_tables() -> dict[str, LedgerTable]:
    return {**fact_tables(), **derived_tables(), CHAIN: chain_table()}


def _ledger_table(source: Table) -> LedgerTable:
    told = set(outbox.told_columns(source)) - set(LATER.get(source.name, ()))
    columns = tuple(column.name for column in source.columns if column.name in told)
    return LedgerTable(source.name, source, columns)
