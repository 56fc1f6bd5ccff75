"""``run``: which definitions it uses, and which datasets it selects. No dataset is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.cli.commands.build import run as command
from lakeguard.services.choose_datasets import Chosen
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.model.definitions import FromSql
from tests.support.projects.shell import Shell


@pytest.fixture
def project(shell: Shell, tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    assert shell("init", folder, "--example").code == 0
    assert shell("apply", "--project", folder).code == 0
    return folder


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What each call would have built."""
    found: list[list[str]] = []

    def many(_: object, client: Client, picked: Chosen, jobs: int) -> int:
        found.append(sorted(picked.parents))
        return 0

    def one(_: object, client: Client, name: str) -> int:
        found.append([name])
        return 0

    monkeypatch.setattr(command, "_many", many)
    monkeypatch.setattr(command, "_one", one)
    return found


def test_files_that_differ_are_named_and_applied_on_demand(
    shell: Shell, project: Path, chosen: list[list[str]]
) -> None:
    assert shell("run", "silver.orders", "--project", project).err == ""
    sql = project / "sql" / "orders.sql"
    sql.write_text(sql.read_text() + "-- edited\n")
    said = shell("run", "silver.orders", "--project", project).err
    assert "1 definition in the files is not applied: ~ dataset silver.orders" in said
    assert "this run uses what is applied" in said
    assert "lakeguard run … --apply" in said
    applied = shell("run", "silver.orders", "--apply", "--project", project)
    assert "✓ applied  1 step" in applied.err
    build = connect(project).reader.definition(DatasetName("silver.orders")).build
    assert isinstance(build, FromSql)
    assert "-- edited" in build.text
    assert shell("run", "silver.orders", "--project", project).err == ""
    sql.write_text("selec\n")
    (line,) = shell("run", "silver.orders", "--project", project).err.splitlines()
    assert (
        "! the files have 1 error (sql/orders.sql:1: a build must be one SELECT, not selec" in line
    )
    assert line.endswith(
        "this run uses what is applied. To use the files, correct them: lakeguard validate, then:"
        " lakeguard run … --apply"
    )
    (project / "definitions" / "gold" / "revenue_daily.yaml").write_text("dataset: [\n")
    said = shell("run", "silver.orders", "--project", project).err
    assert "! the files have 2 errors, the first definitions/gold/revenue_daily.yaml:" in said
    assert chosen == [["silver.orders"]] * 6


def test_what_is_selected(shell: Shell, project: Path, chosen: list[list[str]]) -> None:
    everything = ["bronze.orders", "gold.revenue_daily", "silver.orders"]
    for arguments in (["bronze.orders+"], ["+gold.revenue_daily"], ["--changed"], ["--all"]):
        assert shell("run", *arguments, "--project", project).code == 0
    assert chosen == [everything] * 4
    assert shell("run", "--project", project).code == 2
    refused = shell("run", "tag:nothing", "--project", project)
    assert refused.err.startswith("LG-1208")
    named = shell("run", "orders", "--project", project).err
    assert "did you mean bronze.orders or silver.orders?" in named
