"""Compares a Delta log with its recorded commits, writes altered or lost ones back and
moves entries out that nobody may write."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lakeguard.lake.log_entries import (
    LogFolder,
    OddEntry,
    commit_name,
    is_derived,
    log_folder,
    odd_entries,
    version_of_commit,
    version_of_derived,
)
from lakeguard.lake.seen_commits import SeenCommit, SeenCommits
from lakeguard_sdk.storage.checksum_files import checksum_name
from lakeguard_sdk.storage.storage import FileMark, Storage, is_remote, join, storage_for

UNDONE = ".undone"
"""Folder of a log with what an undo took out of it; no engine reads it."""
_NOTHING = json.dumps(
    {"commitInfo": {"timestamp": 0, "operation": "UNDO", "operationParameters": {}}}
).encode()
"""In place of a commit without a record: a later commit put its changes back."""


class RecordedLog(NamedTuple):
    """A log compared with its recorded commits."""

    altered: list[int]
    missing: list[int]
    with_schema: dict[int, bytes]
    """Whole commits that set the schema."""
    odd: list[OddEntry]
    head: int
    """The last commit that follows the recorded ones without a gap."""
    derived: bool
    """Readers may take the table from something else than its commits: a checkpoint, a checksum or
    compacted commits."""
    checkpoint: int = -1
    """The last commit that readers need not read."""

    @property
    def lost(self) -> list[int]:
        """Missing commits that readers need."""
        return [version for version in self.missing if version > self.checkpoint]


def read_recorded(
    location: str,
    recorded: Mapping[int, str],
    since: int = 0,
    seen: SeenCommits | None = None,
) -> RecordedLog:
    """Compare each recorded commit with its hash; every file is read once, and none that is known
    by its mark. With ``since``, the version of a known checkpoint, earlier commits need not be
    among them."""
    storage, folder = storage_for(location), log_folder(location)
    listed = LogFolder(location, {version for version in recorded if version >= since}, since)
    marks = listed.marks if seen is not None and recorded else {}
    altered: list[int] = []
    missing: list[int] = []
    with_schema: dict[int, bytes] = {}
    for version in sorted(recorded):
        file = join(folder, commit_name(version))
        commit = _commit_in(file, storage, marks.get(commit_name(version)), seen)
        if commit is None:
            (altered if storage.is_taken(file) else missing).append(version)
        elif commit.sha256 != recorded[version]:
            altered.append(version)
        elif commit.with_schema is not None:
            with_schema[version] = commit.with_schema
    if not recorded or not listed.is_there:
        return RecordedLog(altered, missing, with_schema, [], -1, False)
    return RecordedLog(
        altered,
        missing,
        with_schema,
        odd_entries(listed),
        listed.head,
        listed.derived,
        listed.checkpoint,
    )


def _commit_in(
    file: str, storage: Storage, mark: FileMark | None, seen: SeenCommits | None
) -> SeenCommit | None:
    """None unless it is a file."""
    if seen is not None and mark is not None and (known := seen.find(file, mark)) is not None:
        return known
    try:
        if not is_remote(file) and not storage.is_regular(file):
            return None
        commit = SeenCommit.of(storage.read_bytes(file))
    except FileNotFoundError:
        return None
    if seen is not None and mark is not None:
        seen.add(file, mark, commit)
    return commit


def repair_log(
    location: str, bodies: Mapping[int, bytes], odd: Iterable[OddEntry], last: int
) -> list[str]:
    """Write these commits, and move odd entries out with every commit that follows one of them;
    ``last`` is the last recorded commit. Returns what was moved out; all is durable by then.

    Checkpoints from the first changed commit on are moved out, too: they may say what the altered
    log said. Readers then read the commits themselves.
    """
    storage, folder = storage_for(location), log_folder(location)
    _make_folder(folder)
    entries = list(odd)
    versions = {entry.commit for entry in entries if entry.commit is not None}
    fills = {version: _NOTHING for version in versions if version < last}
    cut = min(versions - fills.keys(), default=None)
    names = {entry.name for entry in entries}
    if cut is not None:
        listed = storage.names_in(folder)
        names |= {name for name in listed if (version_of_commit(name) or 0) >= cut}
    if changed := {*fills, *bodies, *(versions - fills.keys())}:
        names |= _derived_from(folder, min(changed))
    names = {name for name in names if _move_out(folder, name)}
    for version, body in sorted({**fills, **bodies}.items()):
        _write(folder, version, body)
    storage_for(location).make_durable(folder)
    return sorted(names)


def remove_derived_files(location: str) -> bool:
    """Move checkpoints, checksums and compacted commits out, so that readers read the commits;
    False, with nothing changed, if a commit is missing."""
    folder = log_folder(location)
    versions = {version_of_commit(name) for name in storage_for(location).names_in(folder)} - {None}
    if not versions or versions != set(range(len(versions))):
        return False
    for name in _derived_from(folder, 0):
        _move_out(folder, name)
    storage_for(location).make_durable(folder)
    return True


def _derived_from(folder: str, first: int) -> set[str]:
    """Files that repeat that commit or a later one."""
    names = filter(is_derived, storage_for(folder).names_in(folder))
    return {
        name for name in names if (version := version_of_derived(name)) is None or version >= first
    }


def _write(folder: str, version: int, body: bytes) -> None:
    """Replace a commit file atomically; what was there is kept."""
    storage, name = storage_for(folder), commit_name(version)
    place = join(folder, name)
    if storage.is_regular(place):
        storage.link(place, _free_place(folder, name))
    else:
        _move_out(folder, name)
    storage.replace(place, body)
    _move_out(folder, checksum_name(name))


def _move_out(folder: str, name: str) -> bool:
    """Whether the entry was there."""
    return storage_for(folder).move(join(folder, name), _free_place(folder, name))


def _free_place(folder: str, name: str) -> str:
    """No name of a commit, wherever a reader looks."""
    _make_folder(join(folder, UNDONE))
    return join(folder, UNDONE, f"{name}.{secrets.token_hex(8)}")


def _make_folder(folder: str) -> None:
    """A file or a link that leads nowhere is renamed first."""
    storage = storage_for(folder)
    if storage.is_taken(folder) and not storage.has_files(folder):
        storage.move(folder, f"{folder}{UNDONE}-{secrets.token_hex(8)}")
    storage.make_folder(folder)
