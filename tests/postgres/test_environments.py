"""An environment on a server, beside one on a file: applied, and looked at by the doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from lakeguard.state.database import Database
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard_sdk import connect
from tests.support.projects.shell import CommandResult, Shell


@pytest.fixture
def on_server(shell: Shell, tmp_path: Path, schema: Database) -> Path:
    """A project whose environment prod is a schema that nobody has made yet, and a lake."""
    folder = tmp_path / "lake"
    shell("init", folder, "--example")
    (folder / "prod").mkdir()
    address = schema.url.render_as_string()
    written = f"database = '{address}'\nschema = '{schema.schema}'\n"
    with (folder / "lakeguard.toml").open("a") as file:
        file.write(f"\n[env.prod]\nlake = 'prod'\n{written}")
    return folder


def on_prod(shell: Shell, folder: Path, command: str) -> CommandResult:
    return shell(command, "--project", folder, "--env", "prod", "--json")


def on_dev(shell: Shell, folder: Path, command: str) -> CommandResult:
    return shell(command, "--project", folder, "--json")


def database_of(given: CommandResult) -> dict[str, Any]:
    """What the doctor found about the database."""
    findings: list[dict[str, Any]] = given.data["findings"]
    return next(item for item in findings if item["name"] == "Database")


def test_a_schema_that_is_not_there_yet(shell: Shell, on_server: Path, schema: Database) -> None:
    found = database_of(on_prod(shell, on_server, "doctor"))
    assert (found["ok"], found["fix"]) == (False, "lakeguard apply")
    assert "nothing was applied yet" in found["detail"]
    with schema.read() as connection:
        assert connection.scalar(text("SELECT current_schema()")) is None, "looking creates nothing"


def test_a_schema_of_this_version_and_of_another(
    shell: Shell, on_server: Path, schema: Database
) -> None:
    schema.migrate()
    found = database_of(on_prod(shell, on_server, "doctor"))
    assert found["ok"]
    assert f"({schema.schema}), schema {SCHEMA_HEAD}, reachable" in found["detail"]
    with schema.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    found = database_of(on_prod(shell, on_server, "doctor"))
    assert f"schema 0000, this version needs {SCHEMA_HEAD}" in found["detail"]


def test_a_server_that_cannot_be_reached(shell: Shell, on_server: Path) -> None:
    file = on_server / "lakeguard.toml"
    address = "postgresql://keeper@127.0.0.1:1/x"
    file.write_text(f"[env.prod]\ndatabase = '{address}'\npassword = 'env:NOT_SET_ANYWHERE'\n")
    found = database_of(on_prod(shell, on_server, "doctor"))
    assert "env.prod.password: the variable NOT_SET_ANYWHERE is not set" in found["detail"]
    file.write_text(f"[env.prod]\ndatabase = '{address}'\n")
    found = database_of(on_prod(shell, on_server, "doctor"))
    assert not found["ok"]
    assert f"{address} (lakeguard) is unavailable" in found["detail"]


def test_two_environments_stand_side_by_side(shell: Shell, on_server: Path) -> None:
    assert on_prod(shell, on_server, "apply").code == 0
    assert database_of(on_prod(shell, on_server, "doctor"))["ok"]
    assert not database_of(on_dev(shell, on_server, "doctor"))["ok"], "dev was not applied"
    assert on_dev(shell, on_server, "apply").code == 0
    assert database_of(on_dev(shell, on_server, "doctor"))["ok"]


def test_the_same_folder_has_the_same_hashes_in_both(shell: Shell, on_server: Path) -> None:
    applied = [on(shell, on_server, "apply").data["applied"] for on in (on_dev, on_prod)]
    heads = {one["registry_head"] for one in applied}
    assert len(heads) == 1, applied
    dev, prod = (connect(on_server, env=env) for env in ("dev", "prod"))
    for one, other in zip(dev.reader.datasets(), prod.reader.datasets(), strict=True):
        assert one.dataset_name == other.dataset_name
        assert one.definition_hash == other.definition_hash
        assert one.dataset_id != other.dataset_id, "ids stand outside of hashes"
    assert dev.registry.definitions() == prod.registry.definitions()
