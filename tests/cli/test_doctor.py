"""``lakeguard doctor``: what is missing is named, with the command that fixes it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.served import service_at
from tests.support.projects.shell import CommandResult, Shell


@pytest.fixture
def lake(shell: Shell, tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    shell("init", folder, "--example")
    shell("apply", "--project", folder)
    return folder


def finding(given: CommandResult, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in given.data["findings"] if item["name"] == name)
    return found


def examined(shell: Shell, lake: Path) -> CommandResult:
    return shell("doctor", "--project", lake, "--json")


def test_everything_of_the_project_is_there(shell: Shell, lake: Path) -> None:
    given = examined(shell, lake)
    for name in ("LakeGuard", "Project", "Definitions", "Database", "Lake"):
        assert finding(given, name)["ok"]
    assert "schema" in finding(given, "Database")["detail"]
    named = [item["name"] for item in given.data["findings"]]
    assert {"Java", "Spark", "Delta jars"} <= set(named)


def test_nothing_applied_yet(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    shell("init", folder, "--example")
    given = examined(shell, folder)
    assert given.code == 1
    assert finding(given, "Database")["fix"] == "lakeguard apply"
    assert not (folder / ".lakeguard").exists()


def test_a_damaged_database(shell: Shell, lake: Path) -> None:
    database = lake / ".lakeguard" / "state.db"
    content = bytearray(database.read_bytes())
    content[4096:20480] = b"\xff" * (20480 - 4096)
    database.write_bytes(content)
    found = finding(examined(shell, lake), "Database")
    assert not found["ok"]
    assert found["fix"] == "lakeguard rebuild"


def test_a_file_that_is_no_database(shell: Shell, lake: Path) -> None:
    (lake / ".lakeguard" / "state.db").write_text("not a database, but long enough to look at" * 99)
    found = finding(examined(shell, lake), "Database")
    assert "the file is not a database" in found["detail"]
    assert found["fix"] == "lakeguard rebuild"


def test_wrong_definitions(shell: Shell, lake: Path) -> None:
    (lake / "definitions" / "silver" / "orders.yaml").write_text("dataset: [")
    found = finding(examined(shell, lake), "Definitions")
    assert (found["ok"], found["fix"]) == (False, "lakeguard validate")


def test_a_lake_that_is_gone(shell: Shell, lake: Path) -> None:
    settings = lake / "lakeguard.toml"
    settings.write_text(settings.read_text().replace('lake = "."', 'lake = "elsewhere"'))
    found = finding(examined(shell, lake), "Lake")
    assert found["fix"] == f"mkdir -p {lake / 'elsewhere'}"


def test_no_project(shell: Shell, tmp_path: Path) -> None:
    found = finding(examined(shell, tmp_path), "Project")
    assert found["fix"] == "lakeguard init my-lake"


def test_no_java(shell: Shell, lake: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    given = examined(shell, lake)
    assert given.code == 1
    assert "openjdk-17-jre-headless" in finding(given, "Java")["fix"]


def test_no_jars(shell: Shell, lake: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAKEGUARD_CACHE", str(tmp_path / "no-cache"))
    assert (
        finding(examined(shell, lake), "Delta jars")["fix"]
        == "python -m openlaketx.engine.spark.jars delta"
    )


def test_looking_changes_nothing(shell: Shell, lake: Path) -> None:
    copy = lake.with_name("copy")
    shutil.copytree(lake, copy)
    examined(shell, lake)
    assert _content(lake) == _content(copy)


def _content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_of_a_service_it_is_told_what_lacks_here(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, tables = tmp_path / "project", tmp_path / "project" / "tables"
    shell("init", project, "--example")
    settings = project / "lakeguard.toml"
    settings.write_text(settings.read_text().replace('lake = "."', 'lake = "tables"'))
    tables.mkdir()
    with service_at(project) as url:
        monkeypatch.setenv("LAKEGUARD_URL", url)
        given = shell("doctor", "--project", tmp_path, "--json")
        assert finding(given, "Service")["detail"].startswith(url)
        assert finding(given, "Lake")["ok"]
        assert not {"Project", "Database"} & {item["name"] for item in given.data["findings"]}
        tables.rename(tmp_path / "elsewhere")
        away = examined(shell, project)
        assert (away.code, finding(away, "Lake")["ok"]) == (1, False)
        assert finding(away, "Definitions")["ok"]
    service = finding(examined(shell, project), "Service")
    assert (service["ok"], bool(service["fix"])) == (False, True)
