"""Building a run of the past again: what it was given, and how its rows compare."""

from __future__ import annotations

from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import RunPlan, SchemaVerdict


class RebuildPlan(Noun):
    """All that a run was given, and what it came to."""

    run: RunPlan
    verdict: SchemaVerdict
    evidence: Evidence
    version: int | None = None


class Rebuilt(Noun):
    """The rows that a run wrote beside those that it writes now."""

    run_id: str
    dataset: DatasetName
    version: int | None
    rows: int
    """That the run wrote then, in all files that its commit adds."""
    rows_now: int
    missing: int = 0
    """Rows of then that are not there now, each as often as it is missing."""
    extra: int = 0
    columns: tuple[str, ...] = ()
    """Columns whose values are not the same taken together."""
    schema_changes: tuple[str, ...] = ()
    """Columns that only one of them has, or has in another type."""
    removed_otherwise: bool = False
    """Whether other files of its base would be replaced."""
    digest: str = ""
    digest_now: str = ""
    """Of all rows, whatever their order and their files."""

    @property
    def same(self) -> bool:
        return (
            self.digest == self.digest_now
            and not self.schema_changes
            and not self.removed_otherwise
        )
