"""``lakeguard migrate``: the owner makes the tables, and a service works without being one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard_sdk.errors import StateNotMigrated
from tests.support.databases.databases import Server
from tests.support.projects.shell import Shell

OWNER, SERVICE = "keeper of tables", "service"


@pytest.fixture
def project(shell: Shell, server: Server, tmp_path: Path) -> Iterator[Path]:
    """Its environment prod is in a database whose owner is no superuser."""
    folder = tmp_path / "project"
    shell("init", folder, "--example")
    server.sql(f'CREATE ROLE "{OWNER}" LOGIN')
    server.sql(f"CREATE ROLE {SERVICE} LOGIN")
    server.sql(f'CREATE DATABASE governed OWNER "{OWNER}"')
    address = server.url_in("governed", SERVICE)
    written = f"database = '{address}'\nowner = '{OWNER}'\nlake = 'prod'\n"
    (folder / "lakeguard.toml").write_text(f"[env.prod]\n{written}")
    (folder / "prod").mkdir()
    yield folder
    server.sql("DROP DATABASE governed WITH (FORCE)")
    server.sql(f'DROP ROLE "{OWNER}"; DROP ROLE {SERVICE}')


def test_a_service_works_once_the_owner_has_migrated(project: Path, shell: Shell) -> None:
    asked = ("--project", project, "--env", "prod")
    early = shell("status", *asked)
    assert early.code == 1
    assert "LG-6011" in early.err
    assert "lakeguard --env prod migrate" in early.err
    assert shell("doctor", *asked, "--json").data["findings"]
    made = shell("migrate", *asked)
    assert made.code == 0, made.err
    assert "schema 0001, was empty" in made.out
    assert f"role {SERVICE} sees the rows of one organisation at a time" in made.out
    again = shell("migrate", *asked, "--json")
    assert (again.data["before"], again.data["service_role"]) == ("0001", SERVICE)
    for command in (("apply",), ("sync",), ("status",), ("verify",), ("jobs", "list")):
        done = shell(*command, *asked)
        assert done.code == 0, (command, done.out, done.err)
    rebuilt = shell("rebuild", "--replace", *asked)
    assert rebuilt.code == 0, rebuilt.err
    assert shell("verify", *asked).code == 0
    assert "orders" in shell("status", *asked).out


def test_a_service_never_migrates(project: Path, server: Server, shell: Shell) -> None:
    shell("migrate", "--project", project, "--env", "prod")
    server.sql("UPDATE lakeguard.alembic_version SET version_num = '0000'", "governed")
    refused = shell("apply", "--project", project, "--env", "prod", "--json")
    assert refused.data["error"]["code"] == StateNotMigrated.code
    assert "schema 0000" in refused.data["error"]["message"]


def test_the_owner_is_bound_too(project: Path, server: Server, shell: Shell) -> None:
    """By the policies, as long as no organisation is named."""
    shell("migrate", "--project", project, "--env", "prod")
    shell("apply", "--project", project, "--env", "prod")
    settings = load_settings(project, "prod")
    owner = open_state(settings, as_owner=True)
    for org_id, seen in (("", 0), ("others", 0), (settings.organisation, 1)):
        with owner.read(org_id) as connection:
            counted = connection.exec_driver_sql("SELECT count(*) FROM organizations")
            assert counted.scalar_one() == seen
    owner.close()


def test_a_database_of_one_role_is_only_migrated(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shell("init", folder)
    made = shell("migrate", "--project", folder)
    assert made.code == 0
    assert "schema 0001, was empty" in made.out
    assert len(made.out.splitlines()) == 1
