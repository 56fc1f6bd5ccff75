"""Compares a Delta log with its recorded commits, and writes altered or lost ones back."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.storage import join, local_path, storage_for

_LAST_CHECKPOINT = "_last_checkpoint"
_COMMIT = re.compile(r"([0-9]{20})\.json$")
_DERIVED = re.compile(r"(?:[0-9]{20}\.)?(?P<last>[0-9]{20})\.(?:checkpoint.*|crc|compacted\.json)")
"""Files that repeat what the commits up to one of them say."""


class RecordedLog(NamedTuple):
    """The recorded commits of a log, compared with their files."""

    altered: list[int]
    missing: list[int]
    with_schema: dict[int, bytes]
    """Whole commits that set the schema."""


def read_recorded(location: str, recorded: Mapping[int, str]) -> RecordedLog:
    """Compare each recorded commit with its hash; every file is read once."""
    log = RecordedLog([], [], {})
    storage = storage_for(location)
    for version in sorted(recorded):
        file = log_file(location, version)
        body = storage.read_bytes(file) if storage.exists(file) else None
        if body is None:
            log.missing.append(version)
        elif hash_bytes(body) != recorded[version]:
            log.altered.append(version)
        elif b'"metaData"' in body:
            log.with_schema[version] = body
    return log


def has_log(location: str) -> bool:
    """Whether there is a folder of commits; one that is gone is found by its table."""
    return Path(local_path(join(location, "_delta_log"))).is_dir()


def has_derived_files(location: str) -> bool:
    """Whether readers may take the table from something else than its commits: a checkpoint, a
    checksum or compacted commits."""
    folder = Path(local_path(join(location, "_delta_log")))
    return has_log(location) and any(_is_derived(file.name) for file in folder.iterdir())


def remove_derived_files(location: str) -> bool:
    """Remove checkpoints, checksums and compacted commits, so that readers read the commits; False,
    with nothing removed, if a commit is missing."""
    folder = Path(local_path(join(location, "_delta_log")))
    versions = {int(found[1]) for file in folder.iterdir() if (found := _COMMIT.match(file.name))}
    if not versions or versions != set(range(len(versions))):
        return False
    _remove_derived(folder, 0)
    return True


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
    _remove_derived(folder, min(bodies))


def _is_derived(name: str) -> bool:
    return name == _LAST_CHECKPOINT or _DERIVED.fullmatch(name) is not None


def _remove_derived(folder: Path, first: int) -> None:
    for file in folder.iterdir():
        found = _DERIVED.fullmatch(file.name)
        if file.name == _LAST_CHECKPOINT or (found and int(found["last"]) >= first):
            file.unlink()
    storage_for(str(folder)).make_durable(str(folder))
