"""Transactions on the State for one organisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from lakeguard.state.database import Database
from lakeguard.state.transaction import Autocommit, Transaction

T = TypeVar("T")


@dataclass(frozen=True)
class OrganisationState:
    """Opens transactions on the State for one organisation and one actor."""

    database: Database
    org_id: str
    clock: Callable[[], datetime]
    actor: str

    @staticmethod
    def of(
        database: Database,
        org_id: str,
        clock: Callable[[], datetime] | None = None,
        actor: str = "",
    ) -> OrganisationState:
        """Uses the State's clock unless another is given."""
        return OrganisationState(database, org_id, clock or database.clock, actor)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """See ``Database.read``."""
        with self.database.read(self.org_id) as connection:
            yield self._on(connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """See ``Database.write``."""
        with self.database.write(self.org_id) as connection:
            yield self._on(connection)

    def transact(self, work: Callable[[Transaction], T]) -> T:
        """See ``Database.transact``."""
        return self.database.transact(lambda connection: work(self._on(connection)), self.org_id)

    def autocommit(self, work: Callable[[Transaction], T]) -> T:
        """See ``Database.autocommit``."""
        return self.database.autocommit(
            lambda connection: work(Autocommit(connection, self.org_id, self.clock, self.actor)),
            self.org_id,
        )

    def _on(self, connection: Connection) -> Transaction:
        return Transaction(connection, self.org_id, self.clock, self.actor)
