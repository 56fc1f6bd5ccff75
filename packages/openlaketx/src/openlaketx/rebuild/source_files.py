"""Collects the source files of a past run, unchanged, or reports why they are missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.errors import NotRebuildable
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from lakeguard_sdk.model.history import RebuildPlan
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import (
    Storage,
    is_remote,
    local_path,
    located,
    storage_for,
)
from openlaketx.engine.known_files import GivenFiles
from openlaketx.extract.files.file_order import by_name
from openlaketx.extract.files.landed_files import run_folder

_GATHERED = "gathered"
_NOT_REPEATABLE = {
    SourceFormat.JDBC: "a database does not keep its past rows",
    SourceFormat.DELTA: "its source table is not governed here and may no longer have the rows",
}


def gather_source(
    plan: RebuildPlan, build: SourceBuild, lake: str, place: Path, storage: Storage
) -> tuple[SourceBuild, GivenFiles]:
    """A build that reads exactly the original files, copied below ``place``, and those of them that
    were read before.

    ``NotRebuildable`` if a file is missing or its hash has changed.
    """
    run_id = plan.run.ticket.run_id
    if build.format in _NOT_REPEATABLE:
        raise NotRebuildable(run=run_id, reason=_NOT_REPEATABLE[build.format])
    files = _read_then(plan)
    put = [
        _put(file, _found(plan, build, file, lake, storage), place, number)
        for number, file in enumerate(sorted(files, key=lambda file: by_name(file.path)))
    ]
    known = put if _again(plan) else []
    again = SourcePosition(files=tuple(known)).at(1, None, {}) if known else None
    changed = {"url": "", "landing": False, "path": f"{_GATHERED}/*/*", "position": again}
    return build.model_copy(update=changed), GivenFiles.of(known)


def _again(plan: RebuildPlan) -> bool:
    """Whether the run was to rebuild rows that it had read before."""
    return plan.run.window is not None and plan.run.load.type is LoadType.APPEND


def _read_then(plan: RebuildPlan) -> tuple[SourceFile, ...]:
    """The files that the run read; for an incremental load, those that its base had not read."""
    run_id, position = plan.run.ticket.run_id, plan.evidence.position
    if plan.run.window is not None and not _again(plan):
        reason = "a backfill does not record the files that it read"
        raise NotRebuildable(run=run_id, reason=reason)
    if position is None or not position.files:
        raise NotRebuildable(run=run_id, reason="it did not record the files that it read")
    return position.files


def _found(
    plan: RebuildPlan, build: SourceBuild, file: SourceFile, lake: str, storage: Storage
) -> str:
    """The location of the original content: the landed copy, or the file itself."""
    run_id = plan.run.ticket.run_id
    landed = run_folder(plan.run, build.source, lake)
    name = Path(file.path).name
    found = storage.files_under(landed) if storage.has_files(landed) else ()
    copies = [facts.path for facts in found if facts.path.rpartition("/")[2] == name]
    places = [*copies, *([] if build.url else [located(lake, file.path)])]
    there = [place for place in places if storage.exists(place)]
    if not there:
        raise NotRebuildable(run=run_id, reason=f"source file {file.path} no longer exists")
    for place in there:
        if _is(file, place, storage):
            return place
    raise NotRebuildable(run=run_id, reason=f"source file {file.path} has changed since the run")


def _is(file: SourceFile, place: str, storage: Storage) -> bool:
    """By content if its hash is known, else by size and tag or, in a folder, time."""
    if file.sha256:
        return storage.sha256(place) == file.sha256
    facts = storage.facts(place)
    found = facts.etag if file.etag else facts.modified_ms
    return (facts.size, found) == file.state


def _put(file: SourceFile, found: str, place: Path, number: int) -> SourceFile:
    """A copy with the same time in a folder of its own; a file with several names is not read.

    The original path is not used: it may point anywhere. The number preserves the file order.
    """
    path = Path(_GATHERED, f"{number:08d}", Path(file.path).name)
    target = place / path
    target.parent.mkdir(parents=True)
    if is_remote(found):
        target.write_bytes(storage_for(found).read_bytes(found))
        os.utime(target, ns=(file.modified_ms * 1_000_000,) * 2)
    else:
        shutil.copy2(Path(local_path(found)).resolve(), target)
    return file.model_copy(update={"path": path.as_posix()})
