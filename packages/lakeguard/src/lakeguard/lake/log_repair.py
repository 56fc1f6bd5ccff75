"""Writes recorded commits back into a Delta log that was altered or lost some of them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.storage import join, local_path, storage_for

_LAST_CHECKPOINT = "_last_checkpoint"
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint.*")


def altered_commits(
    location: str, recorded: Mapping[int, str], *, missing: bool = True
) -> list[int]:
    """The commits whose file does not have its recorded hash, or is missing if these count."""
    found = {version: _hash(log_file(location, version)) for version in sorted(recorded)}
    return [
        version
        for version, sha256 in found.items()
        if sha256 != recorded[version] and (missing or sha256 is not None)
    ]


def write_commits(location: str, bodies: Mapping[int, bytes]) -> None:
    """Replace commit files, each atomically; they are durable when this returns.

    Checkpoints from the first of them on are removed: they may say what the altered log said.
    Readers then read the commits themselves.
    """
    folder = Path(local_path(join(location, "_delta_log")))
    folder.mkdir(parents=True, exist_ok=True)
    for version, body in sorted(bodies.items()):
        place = Path(local_path(log_file(location, version)))
        fresh = folder / f".{place.name}.{secrets.token_hex(8)}.tmp"
        fresh.write_bytes(body)
        storage_for(location).make_durable(str(fresh))
        fresh.replace(place)
        storage_for(location).make_durable(str(place))
    _remove_checkpoints(folder, min(bodies))


def _remove_checkpoints(folder: Path, first: int) -> None:
    for file in folder.iterdir():
        found = _CHECKPOINT.fullmatch(file.name)
        if file.name == _LAST_CHECKPOINT or (found and int(found[1]) >= first):
            file.unlink()
    storage_for(str(folder)).make_durable(str(folder))


def _hash(file: str) -> str | None:
    storage = storage_for(file)
    return hash_bytes(storage.read_bytes(file)) if storage.exists(file) else None
