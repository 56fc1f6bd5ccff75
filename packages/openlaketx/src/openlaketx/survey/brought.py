"""Which files hold exactly the rows that the run of a version brought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.commits import GROWN, STAGING
from lakeguard_sdk.evidence import StagedFile
from lakeguard_sdk.storage import Storage, join, local_path
from lakeguard_sdk.survey import SurveyPlan
from openlaketx.engine.delta_table import LiveFile
from openlaketx.loads.changed import OP, UPDATE
from openlaketx.loads.growing import WIDENED
from openlaketx.loads.keyed import CHANGES
from openlaketx.loads.rewriting import REWRITTEN
from openlaketx.loads.windowed import KEPT
from openlaketx.stage import Candidate

_NEIGHBOURS = frozenset({REWRITTEN, KEPT, WIDENED, GROWN})
"""Folders of a run whose files hold rows that were in the table before."""


class NotKept(Exception):
    """The rows stand among others now, and nothing tells which they are."""


def brought_files(plan: SurveyPlan, shown: Sequence[LiveFile], storage: Storage) -> Candidate:
    """Files with as many rows as the run brought; ``NotKept`` where they are not to be had.

    A table of no more rows than the run brought holds those rows, in whatever files.
    """
    location = plan.snapshot.location
    if sum(file.rows or 0 for file in shown) == plan.rows:
        return Candidate(location, tuple(map(_listed, shown)), ())
    added = [file for file in plan.files if _folder(file.path) not in _NEIGHBOURS]
    if sum(file.rows for file in added) != plan.rows:
        added += _updated(plan, storage)
    found = sum(file.rows for file in added)
    if found != plan.rows:
        raise NotKept(
            f"of the {plan.rows} rows that v{plan.version} brought, only {found} are in files of"
            " their own"
        )
    gone = [file.path for file in added if not storage.exists(join(location, file.path))]
    if gone:
        raise NotKept(
            f"{len(gone)} of the files that v{plan.version} brought were merged since, and removed"
        )
    return Candidate(location, tuple(added), ())


def _folder(path: str) -> str:
    """The folder below that of the run; empty for a file that no run wrote."""
    parts = path.split("/")
    return parts[2] if parts[0] == STAGING and len(parts) > 3 else ""


def _updated(plan: SurveyPlan, storage: Storage) -> Iterator[StagedFile]:
    """Updated rows as the run wrote them, before they were put among their neighbours."""
    for staging in {"/".join(file.path.split("/")[:2]) for file in plan.files}:
        folder = join(staging, CHANGES, f"{OP}={UPDATE}")
        root = f"{local_path(plan.snapshot.location)}/"
        for facts in storage.files_under(join(plan.snapshot.location, folder)):
            if facts.path.endswith(".parquet"):
                yield _staged(facts.path.removeprefix(root), facts.size, _rows_in(facts.path))


def _rows_in(path: str) -> int:
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return 0


def _listed(file: LiveFile) -> StagedFile:
    return _staged(file.path, file.size, file.rows or 0)


def _staged(path: str, size: int, rows: int) -> StagedFile:
    return StagedFile(path=path, size=size, rows=rows, modified_ms=0, stats="")
