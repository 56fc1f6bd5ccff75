"""Takes the measures of a run on its published version, after the run has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError, TableNotFoundError

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.errors import VersionUnreadable
from lakeguard_sdk.expressions.measures import AnyMeasure, GroupBreach, measure_key
from lakeguard_sdk.model.delta_log import GROWN, STAGING
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.history import Remeasured, RemeasurePlan
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.storage.storage import (
    Storage,
    below,
    join,
    readable_file,
    storage_for,
)
from openlaketx.engine.delta_table import LiveFile, left_to_log, live_files, open_table
from openlaketx.engine.file_check import check_files, check_shown, checking_files
from openlaketx.loads.copy_on_write import REWRITTEN
from openlaketx.loads.keyed_changes import OP, UPDATE
from openlaketx.loads.keyed_load import CHANGES
from openlaketx.loads.schema_growth import WIDENED
from openlaketx.loads.window_load import RETAINED
from openlaketx.measure import ReferencedRows, Subject, take_measures
from openlaketx.measure.subject import pinned_rows
from openlaketx.stage import Candidate

# Which files hold exactly the rows that the run of a version added.

_NEIGHBOURS = frozenset({REWRITTEN, RETAINED, WIDENED, GROWN})
"""Folders of a run whose files also hold rows that were in the table before."""


class RowsNotSeparable(Exception):
    """The added rows are now in files with other rows and cannot be separated."""


def _brought_files(plan: RemeasurePlan, shown: Sequence[LiveFile], storage: Storage) -> Candidate:
    """Files with as many rows as the run added; ``RowsNotSeparable`` if they are not available.

    A table without other rows consists of the added rows, in whatever files.
    """
    location = plan.snapshot.location
    if sum(file.rows or 0 for file in shown) == plan.rows:
        return Candidate(location, tuple(map(_listed, shown)), ())
    added = [file for file in plan.files if _folder(file.path) not in _NEIGHBOURS]
    if sum(file.rows for file in added) != plan.rows:
        added += _updated(plan, storage)
    found = sum(file.rows for file in added)
    if found != plan.rows:
        raise RowsNotSeparable(
            f"only {found} of the {plan.rows} rows that v{plan.version} added are in separate files"
        )
    gone = [file.path for file in added if not storage.exists(join(location, file.path))]
    if gone:
        raise RowsNotSeparable(
            f"{len(gone)} of the files that v{plan.version} added were compacted and removed since"
        )
    return Candidate(location, tuple(added), ())


def _folder(path: str) -> str:
    """The folder below the run's folder; empty for a file that no run wrote."""
    parts = path.split("/")
    return parts[2] if parts[0] == STAGING and len(parts) > 3 else ""


def _updated(plan: RemeasurePlan, storage: Storage) -> Iterator[StagedFile]:
    """Updated rows as the run wrote them, before they were merged with their neighbours."""
    for staging in {"/".join(file.path.split("/")[:2]) for file in plan.files}:
        folder = join(staging, CHANGES, f"{OP}={UPDATE}")
        for facts in storage.files_under(join(plan.snapshot.location, folder)):
            if facts.path.endswith(".parquet"):
                yield _staged(
                    below(facts.path, plan.snapshot.location), facts.size, _rows_in(facts.path)
                )


def _rows_in(location: str) -> int:
    try:
        return int(pq.read_metadata(readable_file(location)).num_rows)
    except (pa.ArrowException, OSError):
        return 0


def _listed(file: LiveFile) -> StagedFile:
    return _staged(file.path, file.size, file.rows or 0)


def _staged(path: str, size: int, rows: int) -> StagedFile:
    return StagedFile(path=path, size=size, rows=rows, modified_ms=0, stats="")


def remeasure(plan: RemeasurePlan, reader: Reader | None = None) -> Remeasured:
    """The values that the run's evidence would have, by the same engine over the same rows.

    ``VersionUnreadable`` if files of the version are missing. If only the files of its added rows
    are missing, batch measures have no value, and the others do. Files are compared with the
    records of ``reader`` first.
    """
    with checking_files(reader):
        return _remeasure(plan)


def _remeasure(plan: RemeasurePlan) -> Remeasured:
    storage = storage_for(plan.snapshot.location)
    shown = _shown(plan, storage)
    try:
        batch, reason = _brought_files(plan, shown, storage), ""
    except RowsNotSeparable as error:
        batch, reason = Candidate(plan.snapshot.location, (), ()), str(error)
    measures = [item for item in plan.measures if not reason or _scope(item) is Scope.TABLE]
    measured = take_measures(measures, _subject(plan, shown, batch))
    unmeasured = {measure_key(item): reason for item in plan.measures if item not in measures}
    return Remeasured(
        rows=plan.rows,
        table_rows=_rows(shown),
        values=measured.values,
        unmeasured={**measured.unmeasured, **unmeasured},
    )


def _scope(measure: AnyMeasure) -> Scope:
    """Measures without a scope apply to the batch."""
    scoped = measure.of if isinstance(measure, GroupBreach) else measure
    return getattr(scoped, "scope", Scope.BATCH)


def _shown(plan: RemeasurePlan, storage: Storage) -> list[LiveFile]:
    """Every file of the version with its location."""
    snapshot = plan.snapshot
    try:
        table = open_table(snapshot.location, snapshot.commit)
    except (DeltaError, TableNotFoundError) as error:
        raise _unreadable(plan, next(iter(str(error).splitlines()), "its log is missing")) from None
    found = str(table.metadata().id)
    if found != snapshot.table_id:
        raise _unreadable(plan, f"the table is {found} and not {snapshot.table_id}")
    live = live_files(table)
    files = [live[path] for path in sorted(live)]
    gone = [file for file in files if not storage.exists(join(snapshot.location, file.path))]
    if gone:
        raise _unreadable(
            plan, f"{len(gone)} of its {len(files)} files are missing, such as {gone[0].path}"
        )
    check_files(plan.dataset, snapshot.table_id, snapshot.location, live.keys())
    check_shown(plan.dataset, snapshot.table_id, snapshot.location, snapshot.commit, live.keys())
    return files


def _subject(plan: RemeasurePlan, shown: Sequence[LiveFile], batch: Candidate) -> Subject:
    location, paths = plan.snapshot.location, tuple(file.path for file in shown)
    lacking = left_to_log(open_table(location, plan.snapshot.commit), paths)
    own = ReferencedRows(location, paths, plan.table_schema, lacking)
    return Subject(
        batch,
        plan.table_schema,
        paths,
        _rows(shown),
        lacking=lacking,
        references={plan.dataset: own} | pinned_rows(plan.references, plan.dataset),
    )


def _rows(files: Sequence[LiveFile]) -> int:
    return sum(file.rows or 0 for file in files)


def _unreadable(plan: RemeasurePlan, reason: str) -> VersionUnreadable:
    return VersionUnreadable(dataset=plan.dataset, version=plan.version, reason=reason)
