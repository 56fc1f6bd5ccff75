"""The lake port. Guarantees of every implementation, checked by the contract suite:

* ``ensure`` creates the table empty at seq 0, or finds the one it created before; partitioning is
  fixed then and never changes;
* ``examine`` only reads; ``adopt`` makes one commit that changes no file;
* ``fence`` and ``restore`` commit at most once, only on the version they read, never rebased;
* every result comes from the log, read after the attempt, and is durable by then;
* a damaged or missing table raises ``TableUnreadable``, never an engine error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from lakeguard.lake.log_entries import OddEntry
    from lakeguard.lake.log_repair import RecordedLog
    from lakeguard.lake.table_view import Approved
    from lakeguard_sdk.model.delta_log import Commit
    from lakeguard_sdk.model.run import Intent
    from lakeguard_sdk.model.table_operations import AdoptableTable
    from lakeguard_sdk.storage.file_records import FileRecord
    from lakeguard_sdk.types.schema import TableSchema


class LiveFile(NamedTuple):
    """A file of a version: its unencoded path relative to the table, and its partition."""

    path: str
    size: int
    rows: int
    """-1 if the log does not say."""
    partition: Mapping[str, str | None]
    """Values as spelled in the Delta log."""


class Origin(NamedTuple):
    """The table's identity, partitioning, and the dataset it was created for."""

    table_id: str
    partition_by: tuple[str, ...]
    dataset_id: str | None
    """None for a foreign table."""


class GovernedTables(Protocol):
    def exists(self, location: str) -> bool: ...

    def origin(self, location: str) -> Origin:
        """The table must exist."""

    def examine(self, location: str, version: int | None = None) -> AdoptableTable:
        """Raises ``NotAdoptable``, with a remedy, for a table that cannot be adopted."""

    def adopt(self, intent: Intent) -> int:
        """Commit that adopts the evaluated state and changes nothing else; returns its version."""

    def ensure(
        self,
        dataset_id: str,
        location: str,
        schema: TableSchema,
        partition_by: tuple[str, ...] = (),
    ) -> str:
        """The table's id; raises ``ForeignTable`` if another table is there."""

    def commit_at(self, location: str, version: int) -> Commit | None:
        """The commit of that version, or None."""

    def commit_body(self, location: str, version: int) -> bytes | None:
        """The file of that commit, or None."""

    def head_version(self, location: str) -> int: ...

    def require_readable(self, location: str) -> None:
        """Raise ``TableUnreadable`` unless the head, with all that a commit needs, can be read."""

    def files_at(self, location: str, version: int) -> frozenset[str]:
        """The paths of a version, relative to the table and not encoded."""

    def live_at(self, location: str, version: int) -> Sequence[LiveFile]:
        """The files of a version, ordered by path."""

    def damage(
        self,
        location: str,
        version: int,
        *,
        rows: int | None = None,
        records: Sequence[FileRecord] | None = None,
    ) -> str | None:
        """A missing file or wrong size among the files of a version, else None. With ``rows``, the
        log must show as many; with ``records``, every file must be the recorded one."""

    def keeps_properties(self, location: str, version: int) -> bool:
        """Whether the version still has the properties set at creation."""

    def commits_since(self, location: str, version: int) -> Sequence[Commit]:
        """All commits after ``version``, in order; -1 is before the first."""

    def checkpoint_mark(self, location: str, version: int) -> str | None:
        """Changes with every write to the checkpoint of that version; None if there is none."""

    def read_log(
        self, location: str, recorded: Mapping[int, str], since: int = 0, *, by_mark: bool = False
    ) -> RecordedLog:
        """The log compared with the hashes of its recorded commits. With ``since``, the version of
        a checkpoint that is known, its other entries are looked at from there on. With ``by_mark``,
        a commit in an object store that has the mark under which it was read before is not read
        again."""

    def has_files(self, location: str, sizes: Mapping[str, int]) -> bool:
        """Whether all these files of the table are there, each with its size."""

    def shown_difference(self, location: str, version: int, approved: Approved) -> str | None:
        """How a version differs for its readers from what was approved, or None."""

    def repair_log(
        self, location: str, bodies: Mapping[int, bytes], odd: Iterable[OddEntry], last: int
    ) -> Sequence[str]:
        """Write commits back, and move odd entries out with every commit that follows one of them;
        ``last`` is the last recorded commit. Returns the names that were moved."""

    def read_from_commits(self, location: str) -> bool:
        """Move out what repeats commits, such as checkpoints; False, with nothing changed, if a
        commit is missing."""

    def fence(self, intent: Intent) -> Commit:
        """End the intent; returns the commit with its sequence number: our fence or an earlier
        commit."""

    def restore(self, intent: Intent) -> int:
        """One metadata-only commit that restores the intent's target; returns its version."""


# Quarantine tables.


class ShownFile(NamedTuple):
    """``path`` is relative to the table, not encoded."""

    path: str
    size: int
    rows: int
    modified_ms: int


class Shown(NamedTuple):
    """The files of a table and its version; -1 if it does not exist yet."""

    commit: int
    paths: frozenset[str]


class QuarantineTables(Protocol):
    """Each lists exactly the files that are in quarantine by the ledger."""

    def shown(self, location: str) -> Shown: ...

    def show(
        self,
        location: str,
        schema: TableSchema,
        at: int,
        adds: Sequence[ShownFile],
        removes: Iterable[str],
    ) -> bool:
        """One commit on top of ``at``; False if another commit came first."""
