"""The source files that the base version of a run has read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakeguard_sdk.model.evidence import SourceFile, VersionPosition
from lakeguard_sdk.model.run import RunPlan, SourceBuild

AT_ONCE = 1_000
"""Files per request."""


class SourceFiles(Protocol):
    """The part of the port ``Reader`` that lists them."""

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]: ...

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]: ...


@dataclass(frozen=True)
class KnownFiles:
    """The position of the base version, and its files, read on demand."""

    position: VersionPosition
    dataset_id: str
    reader: SourceFiles

    def among(self, keys: Iterable[str]) -> dict[str, SourceFile]:
        """Those of the keys that were read before, with their records."""
        asked = list(keys) if self.position.files else []
        found: dict[str, SourceFile] = {}
        for start in range(0, len(asked), AT_ONCE):
            piece = asked[start : start + AT_ONCE]
            known = self.reader.source_files(self.dataset_id, self.position.version, piece)
            found |= {file.key: file for file in known}
        return found

    def every(self) -> Iterator[SourceFile]:
        """All files that were read before."""
        after = ""
        while page := self.page(after):
            yield from page
            after = page[-1].key

    def page(self, after: str) -> Sequence[SourceFile]:
        """The next files after a key."""
        return self.reader.source_file_page(self.dataset_id, self.position.version, after)


def known_files(plan: RunPlan, reader: SourceFiles | None) -> KnownFiles | None:
    """None if the run continues no position."""
    position = plan.build.position if isinstance(plan.build, SourceBuild) else None
    if position is None:
        return None
    if reader is None:
        raise ValueError("a run with a position needs a reader of source files")
    return KnownFiles(position, plan.dataset_id, reader)


@dataclass(frozen=True)
class GivenFiles:
    """A fixed set of files, for any dataset and version."""

    files: Mapping[str, SourceFile]

    @classmethod
    def of(cls, files: Iterable[SourceFile]) -> GivenFiles:
        return cls({file.key: file for file in files})

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]:
        return [self.files[key] for key in keys if key in self.files]

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]:
        return () if after else list(self.files.values())
