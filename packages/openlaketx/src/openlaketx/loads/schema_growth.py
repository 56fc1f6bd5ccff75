"""Schema evolution: new columns and wider types.

Only a commit that replaces every file can change the schema. For new columns files are not
rewritten: each gets a hard link in the run's folder, and readers see NULL in missing columns. For
wider types they are rewritten, because readers need not support widening.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.delta_log import second_name
from lakeguard_sdk.model.evidence import Changes, StagedFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage, join, readable_file
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.spark.session import Sessions
from openlaketx.loads.load_result import Loaded
from openlaketx.loads.spark_failures import explain_load
from openlaketx.loads.table_state import FILE, Existing, check_base, read_existing
from openlaketx.stage import Candidate, write_files
from openlaketx.stage.file_stats import delta_stats

WIDENED = "widened"


def has_grown(plan: RunPlan, existing: Existing) -> bool:
    return plan.base is not None and existing.schema.columns != plan.table_schema.columns


def with_new_columns(
    loaded: Loaded, sessions: Sessions, plan: RunPlan, existing: Existing, storage: Storage
) -> Loaded:
    """The same rows, in a commit that removes every live file and adds it again."""
    wider = not set(existing.schema.columns) <= set(plan.table_schema.columns)
    if wider and loaded.stays:
        retained = _rewritten(loaded, sessions(), plan, existing, storage)
    else:
        check_base(plan, [file.path for file in loaded.stays])
        linked = [_linked(file.path, plan, existing, storage) for file in loaded.stays]
        files = tuple(staged for staged, _ in linked)
        retained = Candidate(plan.location, files, tuple(footer for _, footer in linked))
    return replace(
        loaded,
        candidate=loaded.candidate.joined(retained),
        removes=tuple(sorted(existing.files)),
        stays=(),
        changes=loaded.changes or Changes(inserted=loaded.rows),
    )


def _rewritten(
    loaded: Loaded, session: SparkSession, plan: RunPlan, existing: Existing, storage: Storage
) -> Candidate:
    rows = read_existing(session, plan, existing, (file.path for file in loaded.stays)).drop(FILE)
    explain = explain_load(plan)
    written = write_files(rows, plan, plan.table_schema, explain, storage, folder=WIDENED)
    wanted = sum(file.rows or 0 for file in loaded.stays)
    if written.rows != wanted:
        raise StagingFailed(
            dataset=plan.dataset,
            reason=f"widened files have {written.rows} rows instead of {wanted}",
        )
    return written


def _linked(
    path: str, plan: RunPlan, existing: Existing, storage: Storage
) -> tuple[StagedFile, pq.FileMetaData]:
    name = join(plan.staging, second_name(path))
    place = join(plan.location, name)
    storage.link(join(plan.location, path), place)
    facts = storage.facts(place)
    footer = pq.read_metadata(readable_file(place))
    held = _held(footer, existing.schema)
    partition = existing.partitions[path]
    staged = StagedFile(
        path=name,
        size=facts.size,
        rows=footer.num_rows,
        modified_ms=facts.modified_ms,
        stats=delta_stats(
            footer, held, leave_out=partition, redacted_statistics=plan.redacted_statistics
        ),
        partition=partition,
    )
    return staged, footer


def _held(footer: pq.FileMetaData, schema: TableSchema) -> TableSchema:
    """The columns of a file in its own order, which may differ from the definition's."""
    names = footer.schema.to_arrow_schema().names
    types = {column.name: column for column in schema.columns}
    return TableSchema(columns=tuple(types[name] for name in names))
