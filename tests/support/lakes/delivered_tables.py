"""A PostgreSQL schema that deliveries go to, by a user with a password, and what readers see."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lakeguard_sdk.core.enums import LoadType, TargetFormat
from lakeguard_sdk.model.delivery import DatabaseTable
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.deliver.postgresql import Delivered
from tests.support.databases.databases import Server
from tests.support.lakes.published_tables import PublishedTable

USER, PASSWORD = "delivery", "no'body @knows"
SECRETS = {"user": "env:DELIVERY_USER", "password": "env:DELIVERY_PASSWORD"}
VARIABLES = {"DELIVERY_USER": USER, "DELIVERY_PASSWORD": PASSWORD}
DATA = "live"
"""The data database: none of the States is in it."""
_numbers = count(1)


@dataclass(frozen=True)
class LiveSchema:
    """A schema of its own; ``server`` speaks as the owner of everything."""

    server: Server
    name: str

    @classmethod
    def create(cls, server: Server) -> LiveSchema:
        if not server.sql(f"SELECT 1 FROM pg_roles WHERE rolname = '{USER}'"):
            password = PASSWORD.replace("'", "''")
            server.sql(f"CREATE ROLE {USER} LOGIN PASSWORD '{password}'")
            server.sql(f"CREATE DATABASE {DATA}")
            server.sql(f"GRANT CREATE ON DATABASE {DATA} TO {USER}")
        return cls(server, f'live "{next(_numbers)}"')

    @property
    def quoted_name(self) -> str:
        return '"' + self.name.replace('"', '""') + '"'

    @property
    def url(self) -> str:
        return f"postgresql://127.0.0.1:{self.server.port}/{DATA}"

    def table(self, name: str = "bronze_orders", **changed: Any) -> DatabaseTable:
        fields = {
            "url": self.url,
            "secrets": SECRETS,
            "schema_name": self.name,
            "table_name": name,
        }
        return DatabaseTable(**{**fields, **changed})

    def quoted(self, name: str = "bronze_orders") -> str:
        return f'{self.quoted_name}."{name}"'

    def sql(self, statement: str, name: str = "bronze_orders") -> list[tuple[Any, ...]]:
        """``{table}`` and ``{markers}`` are the names of this schema."""
        names = {"table": self.quoted(name), "markers": self.quoted("lakeguard_delivered")}
        return self.server.sql(statement.format(**names), DATA)

    def rows(self, columns: str = "*") -> list[tuple[Any, ...]]:
        """As psycopg reads them, times in UTC."""
        with psycopg.connect(
            self.server.conninfo(DATA), options="-c TimeZone=UTC -c statement_timeout=20s"
        ) as connection:
            query = f"SELECT {columns} FROM {self.quoted()}"
            return connection.execute(query.encode()).fetchall()

    def version(self) -> int:
        ((version,),) = self.sql("SELECT version FROM {markers}")
        return int(version)


class Delivery:
    """A published table and the live table that follows it."""

    def __init__(self, folder: Path, live: LiveSchema, declared: TableSchema, load: Load) -> None:
        self.published = PublishedTable(folder / "lake", declared)
        self.live = live
        self.load = load

    def publish(self, *rows: dict[str, Any], load: LoadType = LoadType.FULL) -> Delivered | None:
        """A version with these rows, delivered."""
        self.published.publish(list(rows), load=load)
        return self.deliver()

    def deliver(self, **changed: Any) -> Delivered | None:
        given = {"load": self.load, "database": self.live.table(), **changed}
        found = self.published.deliver(TargetFormat.POSTGRESQL, **given)
        assert found is None or isinstance(found, Delivered)
        return found


@pytest.fixture
def live(server: Server, monkeypatch: pytest.MonkeyPatch) -> LiveSchema:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    return LiveSchema.create(server)
