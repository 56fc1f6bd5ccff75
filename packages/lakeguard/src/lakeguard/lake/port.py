"""What promotion asks of the lake. An implementer's checklist, proved by the contract suite:

* ``ensure`` creates the table empty at seq 0, or finds the one created so before; how it is
  partitioned is settled then and never changes;
* ``examine`` reads and changes nothing; ``adopt`` makes one commit that changes no file;
* ``fence`` and ``restore`` commit at most once, strictly on what they saw, never rebased;
* every answer comes from the log itself, read after the attempt, and is on disk by then;
* a table that is damaged or gone raises ``TableUnreadable``, never an engine's own error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.model.table_operations import AdoptableTable
from lakeguard_sdk.types.schema import TableSchema


class LiveFile(NamedTuple):
    """A file that a version shows: its raw path under the table's root, and where it belongs."""

    path: str
    size: int
    rows: int
    """-1 where the log does not say."""
    partition: Mapping[str, str | None]
    """As Delta's log spells the values."""


class Origin(NamedTuple):
    """Which table it is, how it is partitioned, and which dataset it was created for."""

    table_id: str
    partition_by: tuple[str, ...]
    dataset_id: str | None
    """None where somebody else made it."""


class GovernedTables(Protocol):
    def exists(self, location: str) -> bool: ...

    def origin(self, location: str) -> Origin:
        """Of a table that exists."""

    def examine(self, location: str, version: int | None = None) -> AdoptableTable:
        """Raises ``NotAdoptable``, with the way out, for a table that must stay as it is."""

    def adopt(self, intent: Intent) -> int:
        """One commit that makes the judged state ours, and nothing else; answers its version."""

    def ensure(
        self,
        dataset_id: str,
        location: str,
        schema: TableSchema,
        partition_by: tuple[str, ...] = (),
    ) -> str:
        """The table's id; raises ``ForeignTable`` where something else stands there."""

    def commit_at(self, location: str, version: int) -> Commit | None:
        """The commit of that version, or None where the log has none."""

    def head_version(self, location: str) -> int:
        """The version of the last commit."""

    def files_at(self, location: str, version: int) -> frozenset[str]:
        """The paths that a version shows, relative to the table and not encoded."""

    def live_at(self, location: str, version: int) -> Sequence[LiveFile]:
        """The files that a version shows, in the order of their paths."""

    def damage(self, location: str, version: int) -> str | None:
        """What is wrong with the files that a version shows: one is gone or has another size."""

    def keeps_properties(self, location: str, version: int) -> bool:
        """Whether the version still has the properties that we set at creation."""

    def commits_since(self, location: str, version: int) -> Sequence[Commit]:
        """Every commit after ``version``, in order; -1 is before the first."""

    def fence(self, intent: Intent) -> Commit:
        """End the intent: the commit that holds its number now, our fence or what came first."""

    def restore(self, intent: Intent) -> int:
        """One metadata-only commit that shows the intent's target again; answers its version."""
