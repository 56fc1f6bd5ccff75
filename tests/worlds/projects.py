"""Project folders for tests, applied and ready."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy.schema import DropSchema

from lakeguard.state.database import Database
from lakeguard_sdk import Client, connect
from lakeguard_sdk.definition import Definitions
from lakeguard_sdk.words import LoadType
from tests.worlds.databases import migrated_file, shared_server
from tests.worlds.planes import numbers_definitions

_numbers = count(1)
_kind = ["sqlite"]
_schemas: list[str] = []


@contextmanager
def states_of(kind: str) -> Iterator[None]:
    """Projects made meanwhile have their State on SQLite, or on PostgreSQL."""
    _kind[:] = [kind]
    yield
    _kind[:] = ["sqlite"]
    while _schemas:
        database = Database(shared_server().url, _schemas.pop())
        with database.write() as connection:
            connection.execute(DropSchema(database.schema, cascade=True, if_exists=True))
        database.close()


def settings_text() -> str:
    """One environment on the kind of State that the test is about."""
    if _kind == ["sqlite"]:
        return "[env.dev]\n"
    schema = f"project {next(_numbers)}"
    _schemas.append(schema)
    return f'[env.dev]\ndatabase = "{shared_server().url}"\nschema = "{schema}"\n'


def make_project(folder: Path, definitions: Definitions, **dispatch: int) -> Client:
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{key} = {value}\n" for key, value in dispatch.items())
    told = f"\n[env.dev.dispatch]\n{lines}" if lines else ""
    (folder / "lakeguard.toml").write_text(settings_text() + told)
    if _kind == ["sqlite"]:
        migrated_file(folder / ".lakeguard" / "state.db")
    client = connect(folder)
    client.registry.apply(client.registry.plan(definitions))
    return client


def numbers_project(folder: Path, load: LoadType = LoadType.APPEND) -> Client:
    return make_project(folder, numbers_definitions(load))
