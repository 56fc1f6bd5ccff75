"""Tables of the lake ledger: appended row by row or replaced, and their columns."""

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
        "service_token_secrets",
        "request_keys",
        "job_schedules",
        "trigger_cursors",
        "stream_reports",
        "dataset_search",
        "metadata_kinds",
        "metadata_records",
        "record_positions",
        CHAIN,
    }
)
"""Not mirrored row by row: relay tables, hashes of secrets, cursors, keys of requests, reports of
streams, the search index, metadata records. The chain is written with its batch."""

IDENTITY_FOLDER, SAMPLES_FOLDER = "_identity", "_samples"
PROTECTED: dict[str, str] = {
    "users": IDENTITY_FOLDER,
    "identity_states": IDENTITY_FOLDER,
    "role_grants": IDENTITY_FOLDER,
    "service_tokens": IDENTITY_FOLDER,
    "access_revocations": IDENTITY_FOLDER,
    "access_log": IDENTITY_FOLDER,
    "rule_samples": SAMPLES_FOLDER,
}
"""Tables about people or with values of rows, in folders with restricted access."""

CURRENT: dict[str, tuple[str, ...]] = {
    "dataset_registry": ("dataset_registry_revisions",),
    "quality_rules": ("quality_rules_revisions",),
    "policy_rules": ("policy_rules_revisions",),
    "source_systems": ("source_systems_revisions",),
    "schema_compatibility_rules": ("schema_compatibility_rules_revisions",),
    "dq_rule_catalog": ("dq_rule_catalog_revisions",),
    "md_jobs": ("md_jobs_revisions", "job_switches", "dataset_registry_revisions"),
    "md_jobs_det": ("md_jobs_revisions",),
    "md_jobconfig": ("md_jobs_revisions",),
    "md_tgt_ctrl": ("md_tgt_ctrl_revisions", "registry_applies"),
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
    "promotion_current": (
        "promotion_status",
        "dataset_registry_revisions",
        "source_systems_revisions",
        "md_tgt_ctrl_revisions",
        "policy_rules_revisions",
        "data_versions",
        "notifications",
        "table_findings",
    ),
}
"""Views of the present, rewritten when one of these tables gains rows."""

EXECUTIONS = "md_job_execution"
BY_RUN: dict[str, str] = {
    EXECUTIONS: "execution_id",
    "run_audit": "run_id",
    "schema_history": "run_id",
    "schema_change_log": "run_id",
    "data_quality_results": "run_id",
}
"""Run views and their run column; rows are appended when the run ends."""

LATER: dict[str, tuple[str, ...]] = {"data_quality_results": ("samples",)}
"""Columns of run views that may change after the run ended; the ledger has them elsewhere."""


@dataclass(frozen=True)
class LedgerTable:
    """One table of the ledger, with its columns in order."""

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
    """Tables mirrored row by row, after those that they reference."""
    mirrored = (table for table in metadata.sorted_tables if table.name not in PRIVATE)
    return {table.name: _ledger_table(table) for table in mirrored}


@cache
def derived_tables() -> dict[str, LedgerTable]:
    """Views mirrored to the ledger."""
    return {name: _ledger_table(view_metadata.tables[name]) for name in (*CURRENT, *BY_RUN)}


@cache
def chain_table() -> LedgerTable:
    return _ledger_table(metadata.tables[CHAIN])


def ledger_tables() -> dict[str, LedgerTable]:
    return {**fact_tables(), **derived_tables(), CHAIN: chain_table()}


def _ledger_table(source: Table) -> LedgerTable:
    stored = set(outbox.immutable_columns(source)) - set(LATER.get(source.name, ()))
    columns = tuple(column.name for column in source.columns if column.name in stored)
    return LedgerTable(source.name, source, columns)
