"""Errors of going back to a version that is not there any more."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.errors import Refused


class FilesRemoved(Refused):
    """Files of the version are gone for good: go back to one that is still whole."""

    code = "LG-3006"
    what = "{dataset} cannot go back to v{version}: maintenance removed files of it; {left}"
    next_command = "lakeguard versions {dataset}"

    def __init__(self, *, dataset: str, version: int, whole: Sequence[int]) -> None:
        """``whole`` are the versions that can be shown again, the newest first."""
        self.whole = tuple(whole)
        names = [f"v{number}" for number in self.whole[:5]]
        more = f" and {len(whole) - 5} older" if len(whole) > 5 else ""
        left = f"still whole: {', '.join(names)}{more}" if names else "no other version is left"
        super().__init__(dataset=dataset, version=version, left=left)

    @property
    def next_step(self) -> str:
        if not self.whole:
            return f"lakeguard run {self.fields['dataset']}"
        return f'lakeguard rollback {self.fields["dataset"]} --to v{self.whole[0]} --reason "…"'
