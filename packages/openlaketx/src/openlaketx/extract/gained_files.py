"""What a table gained between two of its commits, read from its log."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeguard_sdk.commits import Commit, commits_since, renamed_files
from lakeguard_sdk.run import TableSnapshot
from lakeguard_sdk.storage import Storage
from lakeguard_sdk.words import CommitKind


@dataclass
class Gained:
    """Files added since, under the names they were added with; a compaction counts for nothing."""

    paths: set[str] = field(default_factory=set)
    lost: bool = False
    """Rows that were there before are not any more, or it cannot be told."""


def gained_files(storage: Storage, since: TableSnapshot, until: TableSnapshot) -> Gained:
    """The walk from one commit to the other; ValueError where the log between them is torn."""
    gained = Gained(lost=until.commit < since.commit)
    gone: set[str] = set()
    kinds: set[str] = set()
    last = since.commit
    for commit in commits_since(storage, since.location, since.commit):
        if commit.version > until.commit:
            break
        last = commit.version
        kinds.add(_kind(commit))
        if _kind(commit) != CommitKind.COMPACT:
            names = renamed_files(commit)
            gained.paths = {names.get(path, path) for path in gained.paths}
            removed = set(commit.removes) - names.keys()
            added = set(commit.adds) - set(names.values())
            gone |= removed - gained.paths
            back = gone & added
            gone -= back
            gained.paths = (gained.paths - removed) | (added - back)
    if last < until.commit:
        raise ValueError(f"commit {last + 1} is not in its log")
    gained.lost = gained.lost or bool(gone) or {CommitKind.COMPACT, CommitKind.RESTORE} <= kinds
    return gained


def _kind(commit: Commit) -> str:
    return commit.author.kind if commit.author else ""
