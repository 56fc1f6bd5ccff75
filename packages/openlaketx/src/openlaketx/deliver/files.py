"""A file set follows the pointer, run by run.

A file set is complete before its manifest names it, so a reader that follows the manifest sees
one whole version, and at worst an older one.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeguard_sdk import faultpoints
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.storage import local_path
from lakeguard_sdk.words import TargetFormat
from openlaketx.deliver.file_set import MANIFEST, FileSet, read_file_set, replace_file
from openlaketx.deliver.published import published, version_of
from openlaketx.deliver.writing import write_files


def files_folder(location: str) -> Path:
    """Beside the table: ``<location>.files``."""
    table = Path(local_path(location.rstrip("/")))
    return table.with_name(f"{table.name}.files")


def deliver_files(plan: RunPlan, reader: Reader) -> FileSet | None:
    """Make the manifest name the version that is published now; None where it did already."""
    if published(plan.dataset, reader) is None:
        return None
    root = files_folder(plan.location)
    root.mkdir(parents=True, exist_ok=True)
    with _alone(root):
        shown = published(plan.dataset, reader)
        if shown is None:
            return None
        named = read_file_set(root / MANIFEST)
        if named is not None and _is(named, shown, plan.format) and named.is_whole(root):
            return None
        made = _kept(root, shown, plan.format) or _made(root, shown, plan, reader)
        replace_file(root / MANIFEST, made.to_json().encode())
        faultpoints.reached("deliver.manifest")
        return made


def _kept(root: Path, shown: ResolvedDataset, form: TargetFormat) -> FileSet | None:
    """The set of an earlier delivery: after a rollback, or where a delivery died late."""
    found = read_file_set(root / f"v{shown.version}" / f"{form}.json")
    whole = found is not None and _is(found, shown, form) and found.is_whole(root)
    return found if whole else None


def _made(root: Path, shown: ResolvedDataset, plan: RunPlan, reader: Reader) -> FileSet:
    version, _ = version_of(shown, reader)
    files = write_files(shown, plan.format, root, f"v{shown.version}")
    made = FileSet(
        dataset=shown.dataset,
        dataset_id=shown.dataset_id,
        version=shown.version,
        format=plan.format,
        table_id=shown.table_id,
        commit=shown.commit,
        run_id=version.run_id,
        decision_id=version.decision_id,
        rows=sum(file.rows for file in files),
        table_schema=shown.table_schema,
        files=files,
    )
    faultpoints.reached("deliver.written")
    replace_file(root / made.record, made.to_json().encode())
    return made


def _is(found: FileSet, shown: ResolvedDataset, form: TargetFormat) -> bool:
    return (found.version, found.table_id, found.format) == (shown.version, shown.table_id, form)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One delivery at a time; a process that dies lets go."""
    with (root / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
