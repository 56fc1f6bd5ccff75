"""Rendering of maintenance results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakeguard.cli.terminal.layout import number, table
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.model.table_operations import Maintained

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@dataclass(frozen=True)
class Upkeep:
    """Result for one dataset, or its error."""

    dataset: DatasetName
    maintained: Maintained | None = None
    merged: int = 0
    unmerged: int = 0
    """Small files that cannot be compacted with another."""
    error: LakeGuardError | None = None
    failure: Failure | None = None

    @property
    def problem(self) -> str:
        if self.error is not None:
            return f"{self.error.code} {self.error}"
        return f"{self.failure.code} {self.failure.message}" if self.failure else ""

    def to_data(self) -> dict[str, Any]:
        made = self.maintained
        failed = self.failure.to_data() if self.failure else None
        return {
            "dataset": self.dataset,
            "merged_files": self.merged,
            "small_files": made.small_files if made else None,
            "removals": [removal.to_data() for removal in made.removals] if made else [],
            "error": self.error.to_data() if self.error else failed,
        }


def maintain_lines(results: Sequence[Upkeep], *, dry_run: bool) -> list[str]:
    """One line per table with changes or problems."""
    rows = [_cells(item, dry_run) for item in results if item.problem or _busy(item)]
    if not rows:
        return ["nothing to do" if results else "no datasets"]
    headers = ("DATASET", "COMPACTED", "REMOVED", "BYTES", "VERSIONS REMOVED", "PROBLEM")
    lines = table(headers, rows, right=frozenset({1, 2, 3}))
    count = plural(len(rows), "table")
    if dry_run:
        return [*lines, "", f"nothing was changed; {count} would be", "Next: lakeguard maintain"]
    return lines


def _busy(item: Upkeep) -> bool:
    made = item.maintained
    return bool(item.merged or (made and (made.removals or made.small_files)))


def _cells(item: Upkeep, dry_run: bool) -> list[str]:
    removals = item.maintained.removals if item.maintained else ()
    small = item.maintained.small_files if item.maintained else 0
    versions = sorted({version for removal in removals for version in removal.versions})
    return [
        item.dataset,
        _to_merge(small) if dry_run else number(item.merged),
        number(sum(len(removal.paths) for removal in removals)),
        _size(sum(removal.bytes for removal in removals)),
        ", ".join(f"v{version}" for version in versions),
        escaped(item.problem or _unmerged(item)),
    ]


def _to_merge(small: int) -> str:
    """An upper bound: whether files are compatible is only known once they are opened."""
    return f"up to {number(small)}" if small else "0"


def _unmerged(item: Upkeep) -> str:
    if not item.unmerged:
        return ""
    return f"no two of {item.unmerged:,} small files have compatible columns"


def _size(size: float) -> str:
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            return f"{size:,.0f} {unit}"
        size /= 1024
    return ""
