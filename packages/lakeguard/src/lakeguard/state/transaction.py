"""The transaction that every function reading or writing the State takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Never, TypeVar, TypeVarTuple, overload

from sqlalchemy import Connection, CursorResult, Dialect, Executable, ScalarResult
from sqlalchemy.sql.selectable import TypedReturnsRows

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_Values = Mapping[str, Any]
_Parameters = _Values | Sequence[_Values]


@dataclass(frozen=True)
class Transaction:
    """A connection inside a transaction, for one organisation and one actor."""

    connection: Connection
    org_id: str
    clock: Callable[[], datetime]
    actor: str

    def now(self) -> datetime:
        """The State's clock, read anew: time advances while a transaction waits for a lock."""
        return self.clock()

    def value_of(self, statement: str, values: _Values) -> Any:
        """The only value of a statement that is written for the driver."""
        return self.connection.exec_driver_sql(statement, values).scalar_one()

    @property
    def dialect(self) -> Dialect:
        return self.connection.dialect

    @overload
    def execute(
        self, statement: TypedReturnsRows[*Ts], parameters: _Parameters | None = None
    ) -> CursorResult[*Ts]: ...

    @overload
    def execute(
        self, statement: Executable, parameters: _Parameters | None = None
    ) -> CursorResult[*tuple[Any, ...]]: ...

    def execute(
        self, statement: Executable, parameters: _Parameters | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        return self.connection.execute(statement, parameters)

    @overload
    def scalar(
        self, statement: TypedReturnsRows[Never], parameters: _Values | None = None
    ) -> Any | None: ...

    @overload
    def scalar(
        self, statement: TypedReturnsRows[T], parameters: _Values | None = None
    ) -> T | None: ...

    @overload
    def scalar(self, statement: Executable, parameters: _Values | None = None) -> Any: ...

    def scalar(self, statement: Executable, parameters: _Values | None = None) -> Any:
        return self.connection.scalar(statement, parameters)

    @overload
    def scalars(
        self, statement: TypedReturnsRows[T], parameters: _Parameters | None = None
    ) -> ScalarResult[T]: ...

    @overload
    def scalars(
        self, statement: Executable, parameters: _Parameters | None = None
    ) -> ScalarResult[Any]: ...

    def scalars(
        self, statement: Executable, parameters: _Parameters | None = None
    ) -> ScalarResult[Any]:
        return self.connection.scalars(statement, parameters)


@dataclass(frozen=True)
class Autocommit(Transaction):
    """Statements of which each commits by itself."""

    def value_of(self, statement: str, values: _Values) -> Any:
        """Without SQLAlchemy, which takes longer than the driver; errors are the driver's."""
        driver = self.connection.connection.driver_connection
        row = None if driver is None else driver.execute(statement, values).fetchone()
        return None if row is None else row[0]
