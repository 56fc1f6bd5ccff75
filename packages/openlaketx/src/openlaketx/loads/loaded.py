"""What a load came to: the candidate of a run against its base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lakeguard_sdk.evidence import Changes
from openlaketx.engine.delta_table import LiveFile
from openlaketx.stage import Candidate


@dataclass(frozen=True)
class Loaded:
    """Files that come, files that go, files that stay; nothing of it is visible yet."""

    candidate: Candidate
    """Every file that the commit adds."""
    arrived: Candidate
    """Files with exactly the rows that the run brings: new ones, and updated ones as they will be.

    The same as the candidate unless the load rewrites files, whose other rows are not new."""
    read: Candidate
    """Files with every row that was read, for the position in the source."""
    removes: tuple[str, ...]
    stays: tuple[LiveFile, ...]
    batch: int
    """Rows that the load was given, whatever became of each; late ones are among them."""
    changes: Changes | None = None
    lacking: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """Files of the table that may lack partition columns, with what its log says of those."""

    @property
    def rows(self) -> int:
        return self.arrived.rows

    @property
    def table_rows(self) -> int:
        return self.candidate.rows + sum(file.rows or 0 for file in self.stays)

    @property
    def is_nothing(self) -> bool:
        """Whether the table would be as it was."""
        return self.changes is not None and not self.candidate.files and not self.removes

    def sifted(self, kept: Candidate) -> Loaded:
        """The same with fewer rows, of a load that adds what arrived as it is."""
        gone = {file.path for file in self.arrived.files} - {file.path for file in kept.files}
        new = {file.path for file in kept.files} - {file.path for file in self.arrived.files}
        known = kept.without({file.path for file in kept.files} - new)
        fewer = self.arrived.rows - kept.rows
        changes = self.changes and self.changes.model_copy(
            update={"inserted": self.changes.inserted - fewer}
        )
        candidate = self.candidate.without(gone).joined(known)
        batch = self.batch - fewer
        return replace(self, candidate=candidate, arrived=kept, changes=changes, batch=batch)

    def with_files(self, candidate: Candidate) -> Loaded:
        return replace(self, candidate=candidate)
