"""What is recorded of files: of governed tables, and of sources that versions have read."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeguard.ledger.intents import file_records
from lakeguard.settings import FileCheck
from lakeguard.state.organisation import OrganisationState

if TYPE_CHECKING:
    from lakeguard_sdk.model.evidence import SourceFile
    from lakeguard_sdk.storage.file_records import FileRecord


@dataclass(frozen=True)
class FileReader:
    """Methods of the port ``Reader`` for code that reads files."""

    state: OrganisationState
    lake: str
    check_files: FileCheck = FileCheck.FOOTERS

    def file_records(self, table_id: str, paths: Sequence[str]) -> Sequence[FileRecord]:
        with self.state.read() as tx:
            return file_records(tx, table_id, paths, self.check_files)

    def published_files(self, table_id: str, commit: int) -> Set[str]:
        from lakeguard.ledger.known_moves import files_at

        with self.state.read() as tx:
            return files_at(tx, table_id, commit)

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]:
        from lakeguard.ledger.source_files import files_of

        with self.state.read() as tx:
            return tuple(files_of(tx, dataset_id, version, keys).values())

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]:
        from lakeguard.ledger.source_files import file_page

        with self.state.read() as tx:
            return tuple(file_page(tx, dataset_id, version, after).values())
