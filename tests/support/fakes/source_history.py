"""What versions have read of their source, in memory: the reader of a data plane under test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lakeguard_sdk.model.evidence import SourceFile, SourcePosition, VersionPosition
from lakeguard_sdk.ports import Reader
from openlaketx.engine.known_files import KnownFiles

PAGE = 2
"""So small that every test turns pages."""


class SourceHistory:
    """Every version with all its files; version 0 has none."""

    def __init__(self, *reads: SourcePosition | None) -> None:
        self._versions: list[dict[str, SourceFile]] = [{}]
        self.position: VersionPosition | None = None
        """Of the last version."""
        self.asked: list[int] = []
        """How many keys each question had."""
        for read in reads:
            self.add(read)

    def add(self, read: SourcePosition | None) -> VersionPosition:
        assert read is not None
        changed = {**self._versions[read.since], **read.changes}
        files = {key: file for key, file in changed.items() if file is not None}
        self._versions.append(files)
        version = len(self._versions) - 1
        self.position = read.model_copy(
            update={"since": 0, "gone": (), "files": tuple(files.values())}
        ).at(version, None, {})
        return self.position

    def files(self, version: int) -> dict[str, SourceFile]:
        return self._versions[version]

    @property
    def known(self) -> KnownFiles | None:
        """For a run based on the last version."""
        return None if self.position is None else KnownFiles(self.position, "ds_1", self)

    @property
    def reader(self) -> Reader:
        return cast(Reader, self)

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]:
        self.asked.append(len(keys))
        return [self._versions[version][key] for key in keys if key in self._versions[version]]

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]:
        found = sorted(self._versions[version].values(), key=lambda file: file.key)
        return [file for file in found if file.key > after][:PAGE]
