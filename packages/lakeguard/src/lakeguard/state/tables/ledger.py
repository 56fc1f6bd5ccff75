"""Ledger tables: immutable facts."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from lakeguard.state.tables.metadata import (
    Hash,
    Id,
    Long,
    Name,
    UtcTime,
    Word,
    metadata,
)

_ROWID = BigInteger().with_variant(Integer, "sqlite")

documents = Table(
    "documents",
    metadata,
    Column("content_hash", Hash, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("body", Long, nullable=False),
    PrimaryKeyConstraint("org_id", "content_hash", name="pk_documents"),
)

run_history = Table(
    "run_history",
    metadata,
    Column("run_id", Id, ForeignKey("task_attempts.run_id"), nullable=False, unique=True),
    Column("dataset_id", Id, nullable=False),
    Column("layer", Word, nullable=False),
    Column("status", Word, nullable=False),
    Column("start_time", UtcTime, nullable=False),
    Column("end_time", UtcTime, nullable=False),
    Column("error_message", Long),
    Column("triggered_by", Name, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("task_id", Id, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("error_code", Word),
    Column("decision_id", Id),
    Column("version", BigInteger),
    Column("result", Long, nullable=False),
    Column("ordinal", _ROWID, primary_key=True, autoincrement=True),
    UniqueConstraint("task_id", "attempt", name="uq_run_history_attempt"),
    CheckConstraint("status IN ('SUCCESS', 'FAILED', 'BLOCKED')", name="ck_run_history_status"),
    Index("ix_run_history_dataset", "dataset_id", "ordinal"),
    Index("ix_run_history_org", "org_id", "ordinal"),
    Index("ix_run_history_status", "org_id", "status", "ordinal"),
    sqlite_autoincrement=True,
)

decisions = Table(
    "decisions",
    metadata,
    Column("decision_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("run_id", Id, ForeignKey("task_attempts.run_id"), nullable=False, unique=True),
    Column("dataset_id", Id, nullable=False),
    Column("verdict", Word, nullable=False),
    Column("semantics", Integer, nullable=False),
    Column("facts_hash", Hash, nullable=False),
    Column("evidence_hash", Hash),
    Column("ruleset_hash", Hash, nullable=False),
    Column("policies_hash", Hash, nullable=False),
    Column("history_hash", Hash, nullable=False),
    Column("decided_at", UtcTime, nullable=False),
    Column("ruling", Long, nullable=False),
    CheckConstraint("verdict IN ('ALLOWED', 'BLOCKED')", name="ck_decisions_verdict"),
)

promotion_status = Table(
    "promotion_status",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("from_layer", Word, nullable=False),
    Column("to_layer", Word, nullable=False),
    Column("allowed", Boolean, nullable=False),
    Column("evaluated_at", UtcTime, nullable=False),
    Column("reason", Long, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("ordinal", _ROWID, primary_key=True, autoincrement=True),
    Column("state", Word, nullable=False),
    Column("run_id", Id),
    Column("decision_id", Id, ForeignKey("decisions.decision_id")),
    CheckConstraint(
        "state = 'REGISTERED' OR (run_id IS NOT NULL AND decision_id IS NOT NULL)",
        name="ck_promotion_status_decided",
    ),
    Index("ix_promotion_status_dataset", "dataset_id", "from_layer", "to_layer", "ordinal"),
    Index("ix_promotion_status_decision", "decision_id", "ordinal"),
    sqlite_autoincrement=True,
)

governed_tables = Table(
    "governed_tables",
    metadata,
    Column("dataset_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("location", Name, nullable=False),
    Column("table_id", Id, nullable=False, unique=True),
    Column("created_at", UtcTime, nullable=False),
    Column("created_sha256", Hash),
)

intents = Table(
    "intents",
    metadata,
    Column("intent_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("kind", Word, nullable=False),
    Column("run_id", Id, ForeignKey("task_attempts.run_id"), nullable=False, unique=True),
    Column("decision_id", Id, ForeignKey("decisions.decision_id"), nullable=False, unique=True),
    Column("body", Long, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    UniqueConstraint("dataset_id", "seq", name="uq_intents_seq"),
)

intent_outcomes = Table(
    "intent_outcomes",
    metadata,
    Column("intent_id", Id, ForeignKey("intents.intent_id"), primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("outcome", Word, nullable=False),
    Column("commit_version", BigInteger, nullable=False),
    Column("commit_sha256", Hash, nullable=False),
    Column("closed_at", UtcTime, nullable=False),
    Column("checkpoint", Name),
    CheckConstraint(
        "outcome IN ('committed', 'fenced', 'foreign', 'gone')", name="ck_intent_outcome"
    ),
)

data_versions = Table(
    "data_versions",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("snapshot_ref", Name, nullable=False),
    Column("schema_hash", Hash, nullable=False),
    Column("row_count", BigInteger, nullable=False),
    Column("promoted_at", UtcTime, nullable=False),
    Column("promoted_by", Name, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("version_id", Id, nullable=False, unique=True),
    Column("run_id", Id, nullable=False, unique=True),
    Column("decision_id", Id, ForeignKey("decisions.decision_id"), nullable=False, unique=True),
    Column("table_rows", BigInteger, nullable=False),
    Column("table_id", Id, nullable=False),
    Column("commit_version", BigInteger, nullable=False),
    Column("commit_sha256", Hash, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("table_schema", Long, nullable=False),
    Column("ruleset_hash", Hash, nullable=False),
    Column("policies_hash", Hash, nullable=False),
    Column("build_hash", Hash, nullable=False),
    Column("position_hash", Hash),
    PrimaryKeyConstraint("dataset_id", "version", name="pk_data_versions"),
    CheckConstraint("version >= 1", name="ck_data_versions_version"),
)

dataset_pointers = Table(
    "dataset_pointers",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("commit_version", BigInteger, nullable=False),
    Column("kind", Word, nullable=False),
    Column("moved_at", UtcTime, nullable=False),
    Column("actor", Name, nullable=False),
    Column("reason", Long, nullable=False),
    Column("decision_id", Id, ForeignKey("decisions.decision_id"), nullable=False, unique=True),
    Column("org_id", Id, nullable=False),
    PrimaryKeyConstraint("dataset_id", "ordinal", name="pk_dataset_pointers"),
)

materializations = Table(
    "materializations",
    metadata,
    Column("materialization_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("task_id", Id, ForeignKey("tasks.task_id"), nullable=False, unique=True),
    Column("run_id", Id, nullable=False),
    Column("idempotency_key", Name, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("notes", Long),
    UniqueConstraint("dataset_id", "version", name="uq_materializations_version"),
    UniqueConstraint(
        "org_id", "dataset_id", "idempotency_key", name="uq_materializations_idempotency_key"
    ),
)

version_inputs = Table(
    "version_inputs",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("input_dataset_id", Id, nullable=False),
    Column("input_dataset_name", Name, nullable=False),
    Column("input_version", BigInteger, nullable=False),
    Column("org_id", Id, nullable=False),
    PrimaryKeyConstraint(
        "dataset_id", "version", "input_dataset_id", "input_version", name="pk_version_inputs"
    ),
    Index("ix_version_inputs_input", "input_dataset_id"),
)

source_files = Table(
    "source_files",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("file_key", Hash, nullable=False),
    Column("path", Long, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
    Column("sha256", Hash),
    Column("etag", Long),
    Column("by_content", Boolean, nullable=False),
    Column("gone", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    PrimaryKeyConstraint("dataset_id", "version", "file_key", name="pk_source_files"),
    Index("ix_source_files_key", "dataset_id", "file_key", "version"),
)

table_findings = Table(
    "table_findings",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("state", Word, nullable=False),
    Column("problem", Word, nullable=False),
    Column("message", Long, nullable=False),
    Column("found_by", Name, nullable=False),
    Column("found_at", UtcTime, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("ordinal", _ROWID, primary_key=True, autoincrement=True),
    CheckConstraint("state IN ('FOUND', 'GONE')", name="ck_table_findings_state"),
    CheckConstraint(
        "problem IN ('DAMAGE', 'FOREIGN_COMMIT', 'LOG')", name="ck_table_findings_problem"
    ),
    Index("ix_table_findings_dataset", "dataset_id", "ordinal"),
    sqlite_autoincrement=True,
)

maintenance_log = Table(
    "maintenance_log",
    metadata,
    Column("maintenance_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("kind", Word, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("actor", Name, nullable=False),
    Column("details", Long, nullable=False),
    Index("ix_maintenance_log_dataset", "dataset_id", "at"),
)
