"""A table that gains columns: its files get new names, and the commit a new schema.

Only a commit that replaces every file can bring a schema. The files are not written again: each
gets a second name in the run's folder, and readers see NULL in the columns that it lacks.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq

from lakeguard_sdk.commits import second_name
from lakeguard_sdk.evidence import Changes, StagedFile
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.storage import Storage, join, local_path
from openlaketx.loads.existing import Existing
from openlaketx.loads.loaded import Loaded
from openlaketx.stage import Candidate
from openlaketx.stage.file_stats import delta_stats


def has_grown(plan: RunPlan, existing: Existing) -> bool:
    return plan.base is not None and existing.schema.names != plan.table_schema.names


def with_new_columns(loaded: Loaded, plan: RunPlan, existing: Existing, storage: Storage) -> Loaded:
    """The same rows, in a commit that removes every live file and adds it under a new name."""
    linked = [_linked(file.path, plan, existing, storage) for file in loaded.stays]
    files = tuple(staged for staged, _ in linked)
    kept = Candidate(plan.location, files, tuple(footer for _, footer in linked))
    return replace(
        loaded,
        candidate=loaded.candidate.joined(kept),
        removes=tuple(sorted(existing.files)),
        stays=(),
        changes=loaded.changes or Changes(inserted=loaded.rows),
    )


def _linked(
    path: str, plan: RunPlan, existing: Existing, storage: Storage
) -> tuple[StagedFile, pq.FileMetaData]:
    name = join(plan.staging, second_name(path))
    place = join(plan.location, name)
    storage.link(join(plan.location, path), place)
    facts = storage.facts(place)
    footer = pq.read_metadata(local_path(place))
    held = _held(footer, existing.schema)
    partition = existing.partitions[path]
    staged = StagedFile(
        path=name,
        size=facts.size,
        rows=footer.num_rows,
        modified_ms=facts.modified_ms,
        stats=delta_stats(footer, held, leave_out=partition),
        partition=partition,
    )
    return staged, footer


def _held(footer: pq.FileMetaData, schema: TableSchema) -> TableSchema:
    """The columns of a file in its own order, which the definition may have changed since."""
    names = footer.schema.to_arrow_schema().names
    types = {column.name: column for column in schema.columns}
    return TableSchema(columns=tuple(types[name] for name in names))
