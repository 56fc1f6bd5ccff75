"""Temporary folders on a lake, owned by one process."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.scheduling.process_identity import is_gone, this_process
from lakeguard_sdk.storage.storage import is_remote, local_path

_REBUILD = ".rebuild-"
_STAGING = "lakeguard-staging-"
_OWNER = "owner.json"
_LONGEST = timedelta(days=7)
"""Longer than any rebuild; used for owners on other machines or of earlier boots."""


@contextmanager
def scratch_folder(lake: str) -> Iterator[Path]:
    """Removed on exit; if the process dies, by the next rebuild or by maintenance."""
    remove_left_scratch(lake, datetime.now(UTC))
    with _owned(_REBUILD, _base(lake)) as folder:
        yield folder


@contextmanager
def staging_folder() -> Iterator[Path]:
    """For staged files of a lake in an object store, in the temporary folder of this machine.

    Removed on exit; if the process dies, by the next run on this machine.
    """
    temporary = Path(tempfile.gettempdir())
    _remove_left(temporary.glob(f"{_STAGING}*"), datetime.now(UTC))
    with _owned(_STAGING, temporary) as folder:
        yield folder


@contextmanager
def _owned(prefix: str, base: Path) -> Iterator[Path]:
    with TemporaryDirectory(prefix=prefix, dir=base) as made:
        folder = Path(made)
        (folder / _OWNER).write_text(this_process("scratch").to_json(), encoding="utf-8")
        yield folder


def remove_left_scratch(lake: str, now: datetime) -> int:
    """Removes folders of dead processes; returns their number.

    Symbolic links are removed, never their targets.
    """
    return _remove_left(_base(lake).glob(f"{_REBUILD}*"), now)


def _remove_left(folders: Iterable[Path], now: datetime) -> int:
    left = [folder for folder in folders if _left(folder, now)]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return len(left)


def _base(lake: str) -> Path:
    return Path(tempfile.gettempdir() if is_remote(lake) else local_path(lake))


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
