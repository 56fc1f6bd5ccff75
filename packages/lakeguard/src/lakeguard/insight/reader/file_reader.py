"""Records of files: of governed tables, and of sources that versions have read."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from lakeguard.ledger.intents import file_records
from lakeguard.registry.store import dataset_by_id
from lakeguard.settings import FileCheck
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import governed_tables
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import UnknownVersion

if TYPE_CHECKING:
    from lakeguard_sdk.model.evidence import SourceFile
    from lakeguard_sdk.storage.file_records import FileRecord


@dataclass(frozen=True)
class FileReader:
    """Methods of the port ``Reader`` for code that reads files. Ids of other organisations are
    unknown."""

    state: OrganisationState
    lake: str
    check_files: FileCheck = FileCheck.FOOTERS

    def file_records(self, table_id: str, paths: Sequence[str]) -> Sequence[FileRecord]:
        with self.state.read() as tx:
            _require_table(tx, table_id)
            return file_records(tx, table_id, paths, self.check_files)

    def published_files(self, table_id: str, commit: int) -> Set[str]:
        from lakeguard.ledger.known_moves import files_at

        with self.state.read() as tx:
            _require_table(tx, table_id)
            return files_at(tx, table_id, commit)

    def source_files(
        self, dataset_id: str, version: int, keys: Sequence[str]
    ) -> Sequence[SourceFile]:
        from lakeguard.ledger.source_files import files_of

        with self.state.read() as tx:
            dataset_by_id(tx, dataset_id)
            return tuple(files_of(tx, dataset_id, version, keys).values())

    def source_file_page(
        self, dataset_id: str, version: int, after: str = ""
    ) -> Sequence[SourceFile]:
        from lakeguard.ledger.source_files import file_page

        with self.state.read() as tx:
            dataset_by_id(tx, dataset_id)
            return tuple(file_page(tx, dataset_id, version, after).values())


def _require_table(tx: Transaction, table_id: str) -> None:
    table = governed_tables.c
    own = select(table.table_id).where(table.org_id == tx.org_id, table.table_id == table_id)
    if tx.scalar(own) is None:
        raise UnknownVersion(dataset=table_id, version="of this table")
