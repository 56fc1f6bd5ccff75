"""Temporary folders on a lake, owned by one process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.scheduling.process_identity import is_gone, this_process
from lakeguard_sdk.storage.storage import local_path

_PREFIX = ".rebuild-"
_OWNER = "owner.json"
_LONGEST = timedelta(days=7)
"""Longer than any rebuild; used for owners on other machines or of earlier boots."""


@contextmanager
def scratch_folder(lake: str) -> Iterator[Path]:
    """Removed on exit; if the process dies, by the next rebuild or by maintenance."""
    remove_left_scratch(lake, datetime.now(UTC))
    with TemporaryDirectory(prefix=_PREFIX, dir=local_path(lake)) as made:
        folder = Path(made)
        (folder / _OWNER).write_text(this_process("rebuild").to_json(), encoding="utf-8")
        yield folder


def remove_left_scratch(lake: str, now: datetime) -> int:
    """Removes folders of dead processes; returns their number.

    Symbolic links are removed, never their targets.
    """
    left = [folder for folder in Path(local_path(lake)).glob(f"{_PREFIX}*") if _left(folder, now)]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return len(left)


def _left(folder: Path, now: datetime) -> bool:
    """Decided by its owner process, or by age if the owner is unknown."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    try:
        made = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    except FileNotFoundError:
        return False
    try:
        owner = WorkerIdentity.from_json((folder / _OWNER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return now - made > _LONGEST
    return is_gone(owner) or now - made > _LONGEST
