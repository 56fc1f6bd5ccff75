"""Parses Delta commits, and defines the commit protocol of both planes.

A publishing commit carries ``txn(PUBLISH_APP, seq)`` and the ids of run and decision. It is made
from a fresh table handle whose last ``seq`` is exactly one less and whose data is unchanged since
the base, and it is never rebased. Afterwards the log is read back, because an error does not mean
"not committed", nor success "committed".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Self
from urllib.parse import unquote

from pydantic import Field, ValidationError

from lakeguard_sdk.core.canonical_json import canonical_json, hash_bytes
from lakeguard_sdk.core.enums import CommitKind, MoveKind
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.storage.storage import Storage, join

PUBLISH_APP = "lakeguard.publish"
COMPACT = CommitKind.COMPACT

CHECKPOINT_INTERVAL = 10
"""Commits from one checkpoint to the next."""
TABLE_PROPERTIES = {
    "delta.checkpointInterval": str(CHECKPOINT_INTERVAL),
    "delta.enableExpiredLogCleanup": "false",
    "delta.deletedFileRetentionDuration": "interval 36500 days",
    "delta.logRetentionDuration": "interval 36500 days",
}
"""Set at creation or adoption: only LakeGuard's maintenance may expire a version."""


_CHANGES = {"add", "remove", "cdc", "metaData", "protocol"}
_KINDS = {
    MoveKind.ROLLBACK: CommitKind.RESTORE,
    MoveKind.COMPACTION: CommitKind.COMPACT,
    MoveKind.ADOPTION: CommitKind.ADOPT,
}


class CommitAuthor(FrozenModel):
    """The author of a LakeGuard commit, recorded in the commit for every engine to see."""

    dataset_id: str
    kind: CommitKind
    run_id: str = ""
    decision_id: str = ""
    intent_id: str = ""

    @classmethod
    def of(cls, intent: Intent, kind: CommitKind) -> Self:
        return cls(
            dataset_id=intent.dataset_id,
            kind=kind,
            run_id=intent.run_id,
            decision_id=intent.decision_id,
            intent_id=intent.intent_id,
        )

    def custom_metadata(self) -> dict[str, str]:
        """Keys for delta-rs, and the same as ``userMetadata``, which Spark's history shows."""
        fields = {f"lakeguard.{key}": value for key, value in self.to_data().items()}
        return {**fields, "userMetadata": canonical_json(fields)}


class CommittedFile(FrozenModel):
    """A file added by a commit."""

    path: str
    size: int
    stats: str
    partition: dict[str, str | None] = Field(default_factory=dict)


class Commit(FrozenModel):
    """The contents of one commit file.

    Any file, schema or protocol action counts as a data change: a rewrite with
    ``dataChange: false`` is trusted only after its rows have been compared.
    """

    version: int
    sha256: str
    operation: str
    seq: int | None
    author: CommitAuthor | None
    added: tuple[CommittedFile, ...]
    removes: tuple[str, ...]
    data_changing: bool
    table_id: str | None
    table_schema: str | None
    """The new schema in Delta's JSON, if the commit sets one."""
    partition_by: tuple[str, ...] | None = None
    """The partition columns, if the commit sets them."""
    upgrades: bool = False
    """It sets the protocol, which no later commit can lower."""
    claims_neutral: bool = False
    """Every added or removed file has ``dataChange: false``."""

    @property
    def adds(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.added)


STAGING = "runs"
"""Folder of a table with one folder per run."""
GROWN = "grown"
"""Folder of a run with hard links to files of earlier runs."""


def second_name(path: str) -> str:
    """The link to a file, relative to a run's folder, for when its table gains a column."""
    return f"{GROWN}/{hash_bytes(path.encode()).removeprefix('sha256:')[:40]}.parquet"


def written_whole(path: str) -> bool:
    """Whether a run wrote the file, which then contains its partition columns.

    Other files of a partitioned table may lack them.
    """
    parts = path.split("/")
    return parts[0] == STAGING and GROWN not in parts


def renamed_files(commit: Commit) -> dict[str, str]:
    """Files that a commit removes and adds again as links, by old path."""
    added = {"/".join(path.split("/")[-2:]): path for path in commit.adds}
    found = ((path, added.get(second_name(path))) for path in commit.removes)
    return {path: name for path, name in found if name is not None}


_OF_ENGINE = re.compile(r"^(?:(?:[A-Z]\w+ )*(?:delta )?(?:kernel )?error: |Unsupported: )+", re.I)
_STRUCTURE = re.compile(r":? ?\w+ \{.*")


def engine_reason(error: Exception) -> str:
    """Why an engine could not read a log, in one line without names of its own code."""
    line = next(iter(str(error).splitlines()), "")
    return _STRUCTURE.sub("", _OF_ENGINE.sub("", line)) or type(error).__name__


def log_file(location: str, version: int) -> str:
    return join(location, "_delta_log", f"{version:020d}.json")


def read_commit(storage: Storage, location: str, version: int) -> Commit | None:
    """The commit of that version, or None if there is none."""
    body = read_commit_file(storage, location, version)
    return None if body is None else parse_commit(version, body)


def read_commit_file(storage: Storage, location: str, version: int) -> bytes | None:
    """The file without a check for its existence first, which would be one more request."""
    try:
        return storage.read_bytes(log_file(location, version))
    except (FileNotFoundError, NotADirectoryError):
        return None


def commits_since(storage: Storage, location: str, version: int) -> Iterator[Commit]:
    """Every commit after ``version``, in order."""
    while (commit := read_commit(storage, location, version + 1)) is not None:
        yield commit
        version += 1


def parse_action(line: bytes) -> dict[str, Any]:
    """One line of a commit; raises ValueError if it is no object, repeats a key, of which engines
    read different values, or is nested too deeply."""
    try:
        action = json.loads(line, object_pairs_hook=_without_repetition)
    except RecursionError:
        raise ValueError("a line of the commit is nested too deeply") from None
    if not isinstance(action, dict):
        raise ValueError("a line of the commit is not an object")
    return action


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a line of the commit repeats a key")
    return found


def parse_commit(version: int, data: bytes) -> Commit:
    """Parses any engine's commit; raises ValueError if the file is truncated or altered."""
    try:
        return _parsed(version, data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"commit {version} is not readable: {error}") from None


def _parsed(version: int, data: bytes) -> Commit:
    actions = [parse_action(line) for line in data.split(b"\n") if line.strip()]
    if not actions:
        raise ValueError(f"commit {version} is empty")
    found: dict[str, list[dict[str, object]]] = {}
    for action in actions:
        for kind, body in action.items():
            found.setdefault(kind, []).append(body)
    info = found.get("commitInfo", [{}])[0]
    metadata = found.get("metaData", [{}])[0]
    return Commit(
        version=version,
        sha256=hash_bytes(data),
        operation=str(info.get("operation", "")),
        seq=_seq(found.get("txn", [])),
        author=_author(info),
        added=tuple(_committed(add) for add in found.get("add", [])),
        removes=tuple(unquote(str(remove["path"])) for remove in found.get("remove", [])),
        data_changing=bool(_CHANGES & found.keys()),
        table_id=_text(metadata.get("id")),
        table_schema=_text(metadata.get("schemaString")),
        partition_by=_names(metadata.get("partitionColumns")),
        upgrades="protocol" in found,
        claims_neutral=all(
            file.get("dataChange") is False
            for file in (*found.get("add", []), *found.get("remove", []))
        ),
    )


def writes_checkpoint(version: int) -> bool:
    """Whether delta-rs, which makes all commits of governed tables, adds a checkpoint to it."""
    return (version + 1) % CHECKPOINT_INTERVAL == 0


def commit_kind(intent: Intent) -> CommitKind:
    """The kind of the one commit that executes the intent."""
    return _KINDS.get(intent.kind, CommitKind.PUBLISH)


def carries_out(commit: Commit, intent: Intent, kind: CommitKind) -> bool:
    """Whether the commit executes this intent as ``kind``; a fence has the same ``seq``."""
    author = commit.author
    return (
        commit.seq == intent.seq
        and author is not None
        and (author.kind, author.intent_id, author.run_id)
        == (kind, intent.intent_id, intent.run_id)
    )


def _seq(transactions: Sequence[dict[str, object]]) -> int | None:
    ours = [each["version"] for each in transactions if each.get("appId") == PUBLISH_APP]
    if len(ours) > 1:
        raise ValueError(f"the commit has several numbers: {', '.join(map(str, ours))}")
    return int(str(ours[0])) if ours else None


def _author(info: dict[str, object]) -> CommitAuthor | None:
    """None unless all fields are valid: anything else is a foreign commit."""
    fields = {
        key.removeprefix("lakeguard."): str(value)
        for key, value in info.items()
        if key.startswith("lakeguard.")
    }
    try:
        return CommitAuthor.model_validate(fields)
    except ValidationError:
        return None


def _committed(add: dict[str, object]) -> CommittedFile:
    return CommittedFile(
        path=unquote(str(add["path"])),
        size=int(str(add.get("size", 0))),
        stats=str(add.get("stats") or ""),
        partition=_values(add.get("partitionValues")),
    )


def _values(found: object) -> dict[str, str | None]:
    return {str(k): _text(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _names(found: object) -> tuple[str, ...] | None:
    return tuple(str(name) for name in found) if isinstance(found, list) else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
