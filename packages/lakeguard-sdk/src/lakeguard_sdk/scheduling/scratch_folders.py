"""Scratch places on a lake: folders of one process, that nothing shows and nobody keeps."""

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
"""No rebuild takes as long. One of another machine, or of another boot, is not asked after."""


@contextmanager
def scratch_folder(lake: str) -> Iterator[Path]:
    """Gone afterwards; where the process dies first, with the next one or by maintenance."""
    remove_left_scratch(lake, datetime.now(UTC))
    with TemporaryDirectory(prefix=_PREFIX, dir=local_path(lake)) as made:
        folder = Path(made)
        (folder / _OWNER).write_text(this_process("rebuild").to_json(), encoding="utf-8")
        yield folder


def remove_left_scratch(lake: str, now: datetime) -> int:
    """Remove the folders whose process is certainly no more; how many there were.

    Links inside are taken away, and never what they lead to.
    """
    left = [folder for folder in Path(local_path(lake)).glob(f"{_PREFIX}*") if _left(folder, now)]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return len(left)


def _left(folder: Path, now: datetime) -> bool:
    """By its owner; where none is told, for it died too soon or lives elsewhere, by its age."""
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
