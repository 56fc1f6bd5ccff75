"""``plane.json``: which State owns a lake, and the ledger's last batch."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from lakeguard.relay.tables import CHAIN, PROTECTED
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.errors import LedgerUnreadable, StateUnavailable
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.storage import is_remote, join, local_path, storage_for

LEDGER_FOLDER = "_lakeguard"
OWNER_FILE = "plane.json"
_OF_OTHERS = 0o007
_LONGEST_WRITE = timedelta(hours=1)
"""A copy that is older was left by a process that died."""


class Ownership(FrozenModel):
    """``head`` is the audit chain's head after ``batch``; a copy of it proves truncation."""

    organisation: str
    state_id: str
    since: Instant
    batch: int
    head: str
    tables: tuple[str, ...] = ()
    """Tables that the ledger has; a missing one was deleted."""


def ledger_root(lake: str, org_id: str) -> str:
    return join(lake, LEDGER_FOLDER, org_id)


def table_location(root: str, table: str) -> str:
    """The location of a ledger table. On a file system, only owner and group have access to
    protected tables; in an object store, use policies on their prefixes."""
    return join(root, PROTECTED[table], table) if table in PROTECTED else join(root, table)


def protect(root: str) -> None:
    """Create the folders of protected tables, closed to others."""
    if is_remote(root):
        return
    for name in sorted(set(PROTECTED.values())):
        folder = Path(local_path(join(root, name)))
        folder.mkdir(parents=True, exist_ok=True)
        mode = folder.stat().st_mode
        if mode & _OF_OTHERS:
            folder.chmod(mode & ~_OF_OTHERS)


def holds_ledger(root: str) -> bool:
    """Whether a chain exists on the lake, whoever owns it."""
    return storage_for(root).exists(log_file(join(root, CHAIN), 0))


def read_owner(root: str) -> Ownership | None:
    location = join(root, OWNER_FILE)
    try:
        return Ownership.from_json(storage_for(location).read_bytes(location))
    except FileNotFoundError:
        return None
    except (ValidationError, OSError) as error:
        raise LedgerUnreadable(location=location, reason=f"not readable: {error}") from error


def claim(root: str, owner: Ownership) -> Ownership:
    """Claim an unowned lake; return the owner."""
    storage_for(root).create(join(root, OWNER_FILE), _content(owner))
    return read_owner(root) or owner


def replace(root: str, before: Ownership | None, after: Ownership) -> None:
    """Replace ``plane.json`` atomically; ``StateUnavailable`` if it is not as ``before``."""
    storage, location = storage_for(root), join(root, OWNER_FILE)
    if before is None:
        done = storage.create(location, _content(after))
    else:
        mark = storage.mark(location)
        same = read_owner(root) == before
        done = same and storage.update(location, _content(after), mark)
    if not done:
        reason = "another process has changed plane.json meanwhile"
        raise StateUnavailable(place=location, reason=reason)


def remove_left_copies(root: str, now: datetime) -> int:
    """Remove copies of ``plane.json`` that killed processes left; returns their number."""
    if is_remote(root):  # an object is written whole or not at all
        return 0
    folder = Path(local_path(root))
    left = 0
    for copy in folder.glob(f".{OWNER_FILE}.*"):
        with suppress(FileNotFoundError):
            written = datetime.fromtimestamp(copy.stat().st_mtime, UTC)
            if now - written > _LONGEST_WRITE:
                copy.unlink()
                left += 1
    return left


def _content(owner: Ownership) -> bytes:
    return f"{owner.to_json()}\n".encode()
