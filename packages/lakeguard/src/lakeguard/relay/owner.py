"""``plane.json``: which State owns a lake, and the ledger's last batch."""

from __future__ import annotations

import os
import secrets
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from lakeguard.relay.tables import CHAIN
from lakeguard.state.locks import sole_by_file
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.errors import LedgerUnreadable
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.storage import join, local_path, storage_for

LEDGER_FOLDER = "_lakeguard"
OWNER_FILE = "plane.json"
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


def holds_ledger(root: str) -> bool:
    """Whether a chain exists on the lake, whoever owns it."""
    return storage_for(root).exists(log_file(join(root, CHAIN), 0))


def alone_on_lake(root: str, wait_seconds: float) -> AbstractContextManager[bool]:
    """Lock the ledger against other States; False if another holds the lock."""
    return sole_by_file(Path(local_path(join(root, ".writing.lock"))), wait_seconds)


def read_owner(root: str) -> Ownership | None:
    location = join(root, OWNER_FILE)
    storage = storage_for(location)
    if not storage.exists(location):
        return None
    try:
        return Ownership.from_json(storage.read_bytes(location))
    except (ValidationError, OSError) as error:
        raise LedgerUnreadable(location=location, reason=f"not readable: {error}") from error


def claim(root: str, owner: Ownership) -> Ownership:
    """Claim an unowned lake; return the owner."""
    file = Path(local_path(join(root, OWNER_FILE)))
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = _write_beside(file, owner)
    with suppress(FileExistsError):
        os.link(fresh, file)
    fresh.unlink()
    storage_for(root).make_durable(str(file))
    return read_owner(root) or owner


def replace(root: str, owner: Ownership) -> None:
    """Replace ``plane.json`` atomically."""
    file = Path(local_path(join(root, OWNER_FILE)))
    fresh = _write_beside(file, owner)
    reached("owner.written")
    fresh.replace(file)
    storage_for(root).make_durable(str(file))


def remove_left_copies(root: str, now: datetime) -> int:
    """Remove copies of ``plane.json`` that killed processes left; returns their number."""
    folder = Path(local_path(root))
    left = 0
    for copy in folder.glob(f".{OWNER_FILE}.*"):
        with suppress(FileNotFoundError):
            written = datetime.fromtimestamp(copy.stat().st_mtime, UTC)
            if now - written > _LONGEST_WRITE:
                copy.unlink()
                left += 1
    return left


def _write_beside(file: Path, owner: Ownership) -> Path:
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    fresh.write_text(owner.to_json() + "\n")
    storage_for(str(file)).make_durable(str(fresh))
    return fresh
