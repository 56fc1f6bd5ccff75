"""Entries of a Delta log that no writer of a governed table makes. Readers fail on them, or each
engine takes another table from them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from lakeguard_sdk.model.delta_log import parse_commit
from lakeguard_sdk.storage.checksum_files import is_checksum_file, wrong_checksum_file
from lakeguard_sdk.storage.storage import (
    FileMark,
    FolderListing,
    Storage,
    is_remote,
    join,
    storage_for,
)

LAST_CHECKPOINT = "_last_checkpoint"
SIDECARS = "_sidecars"
_COMMIT = re.compile(r"(?P<last>[0-9]+)\.json")
_DERIVED = re.compile(
    r"(?:[0-9]+\.)?(?P<last>[0-9]+)\.(?P<kind>checkpoint\..+|crc|compacted\.json)"
)
"""Files that repeat what the commits up to one of them say. Spark accepts any number of digits."""
_CHECKPOINT = "checkpoint.parquet"
_KNOWN = (_CHECKPOINT, "compacted.json", "crc")
_DIGITS = 20
_WHOLE_COMMIT = re.compile(rf"[0-9]{{{_DIGITS}}}\.json")


class OddEntry(NamedTuple):
    """An entry that makes the log unreadable or ambiguous."""

    name: str
    problem: str
    commit: int | None = None
    """Its version, if it stands where a commit without a record belongs."""

    def __str__(self) -> str:
        return f"_delta_log/{self.name} {self.problem}"


def log_folder(location: str) -> str:
    return join(location, "_delta_log")


def commit_name(version: int) -> str:
    return f"{version:0{_DIGITS}d}.json"


def version_of_commit(name: str) -> int | None:
    """The version of a commit file; None for any other name."""
    found = _COMMIT.fullmatch(name)
    return int(found["last"]) if found and len(found["last"]) == _DIGITS else None


def version_of_derived(name: str) -> int | None:
    """The last commit that a checkpoint, a checksum or compacted commits repeat; None for any
    other name."""
    found = _DERIVED.fullmatch(name)
    return int(found["last"]) if found else None


def is_derived(name: str) -> bool:
    """Whether readers may take the table from it instead of from its commits."""
    return name in (LAST_CHECKPOINT, SIDECARS) or version_of_derived(name) is not None


def checkpoint_file(location: str, version: int) -> str:
    return join(log_folder(location), f"{version:0{_DIGITS}d}.{_CHECKPOINT}")


def odd_entries(listed: LogFolder) -> list[OddEntry]:
    """Every odd entry of the log.

    The folder is listed again before anything is called odd: commits and checkpoints may be added
    meanwhile.
    """
    if not listed.recorded or not listed.is_there:
        return []
    found = list(listed.odd_entries())
    if not found:
        return []
    again = set(replace(listed).odd_entries())
    return [entry for entry in found if entry in again]


@dataclass(frozen=True)
class LogFolder:
    """The names in a log, as listed once."""

    location: str
    """Of the table."""
    recorded: Set[int]
    """Commits whose content is compared elsewhere."""
    since: int = 0
    """A checkpoint that is known: names of earlier versions are left out."""

    @cached_property
    def _listing(self) -> FolderListing:
        return self._storage.list_folder(log_folder(self.location))

    @property
    def is_there(self) -> bool:
        if is_remote(self.location):
            return bool(self._listing.names)
        return self._storage.has_files(log_folder(self.location))

    @property
    def marks(self) -> Mapping[str, FileMark]:
        """Of its files, if they are in an object store."""
        return (self._listing.marks or {}) if is_remote(self.location) else {}

    @cached_property
    def names(self) -> list[str]:
        names = self._listing.names
        if not self.since:
            return names
        # Nearly all names of a long log are those of earlier commits.
        first, is_commit = commit_name(self.since), _WHOLE_COMMIT.fullmatch
        others = (name for name in names if name >= first or is_commit(name) is None)
        return [name for name in others if self._is_since(name)]

    def _is_since(self, name: str) -> bool:
        """Whether it is not surely about earlier versions only."""
        about = name[1:].removesuffix(".crc") if is_checksum_file(name) else name
        found = _COMMIT.fullmatch(about) or _DERIVED.fullmatch(about)
        if found is None or len(found["last"]) != _DIGITS:
            return True
        return int(found["last"]) >= self.since

    @property
    def derived(self) -> bool:
        """Whether readers may take the table from something else than its commits and the known
        checkpoint."""
        known = {LAST_CHECKPOINT, checkpoint_file("", self.since).rpartition("/")[2]}
        return any(is_derived(name) for name in self.names if not self.since or name not in known)

    @property
    def _storage(self) -> Storage:
        return storage_for(self.location)

    def _place(self, name: str) -> str:
        return join(log_folder(self.location), name)

    def _is_regular(self, name: str) -> bool:
        if is_remote(self.location):
            return name in self.marks
        return self._storage.is_regular(self._place(name))

    @cached_property
    def commits(self) -> set[int]:
        versions = map(version_of_commit, self.names)
        return {version for version in versions if version is not None}

    @cached_property
    def head(self) -> int:
        """The last commit that follows the recorded ones without a gap."""
        head = max(self.recorded)
        while head + 1 in self.commits:
            head += 1
        return head

    @cached_property
    def checkpoint(self) -> int:
        """The last commit that readers need not read; -1 without a checkpoint."""
        found = (version_of_derived(name) or 0 for name in self.names if _is_checkpoint(name))
        return max((version for version in found if version <= self.head), default=-1)

    def odd_entries(self) -> Iterator[OddEntry]:
        for name in self.names:
            if found := _COMMIT.fullmatch(name):
                yield from self._commit(name, found["last"])
            elif found := _DERIVED.fullmatch(name):
                yield from self._derived(name, found["last"], found["kind"])
            elif name == LAST_CHECKPOINT:
                yield from self._hint()
            elif is_checksum_file(name):
                yield from self._checksum(name)
        needed = range(max(min(self.recorded), self.checkpoint + 1), max(self.recorded))
        for version in sorted(set(needed) - self.commits - self.recorded):
            yield OddEntry(commit_name(version), "is missing", version)

    def _commit(self, name: str, digits: str) -> Iterator[OddEntry]:
        version = int(digits)
        if len(digits) != _DIGITS:
            yield OddEntry(name, f"does not have the {_DIGITS} digits of a commit")
        elif version in self.recorded or version < min(self.recorded):
            return
        elif not self._is_regular(name):
            yield OddEntry(name, "is not a file", version)
        elif version > self.head:
            yield OddEntry(name, f"follows no commit {version - 1}", version)
        elif problem := _problem(self._place(name), version):
            yield OddEntry(name, problem, version)

    def _derived(self, name: str, digits: str, kind: str) -> Iterator[OddEntry]:
        version = int(digits)
        if len(digits) != _DIGITS:
            yield OddEntry(name, f"does not have the {_DIGITS} digits of a commit")
        elif not self._is_regular(name):
            yield OddEntry(name, "is not a file")
        elif version > self.head:
            yield OddEntry(name, f"repeats commits after the last one, {self.head}")
        elif kind == "crc" and version in self.recorded:
            yield OddEntry(name, f"was not written with commit {version}")
        elif kind not in _KNOWN and version >= min(self.recorded):
            yield OddEntry(name, "is not a checkpoint as LakeGuard writes them")

    def _hint(self) -> Iterator[OddEntry]:
        """Readers start at the checkpoint that it names."""
        if not self._is_regular(LAST_CHECKPOINT):
            yield OddEntry(LAST_CHECKPOINT, "is not a file")
            return
        try:
            said = json.loads(self._storage.read_bytes(self._place(LAST_CHECKPOINT)))
            version, parts = int(said["version"]), said.get("parts") or said.get("v2Checkpoint")
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield OddEntry(LAST_CHECKPOINT, "cannot be read")
            return
        if parts and version < min(self.recorded):
            return
        if parts or not self._is_regular(f"{version:0{_DIGITS}d}.{_CHECKPOINT}"):
            yield OddEntry(LAST_CHECKPOINT, f"names a checkpoint {version} that is not there")

    def _checksum(self, name: str) -> Iterator[OddEntry]:
        file = name.removeprefix(".").removesuffix(".crc")
        if self._is_regular(file) and wrong_checksum_file(self._place(file), whole=True):
            yield OddEntry(name, f"does not match {file}, so Spark cannot read it")


def _is_checkpoint(name: str) -> bool:
    found = _DERIVED.fullmatch(name)
    return found is not None and found["kind"] == _CHECKPOINT


def _problem(location: str, version: int) -> str | None:
    try:
        data = storage_for(location).read_bytes(location)
        parse_commit(version, data)
    except ValueError:
        return "cannot be read as a commit" if data.strip() else "is empty"
    return None
