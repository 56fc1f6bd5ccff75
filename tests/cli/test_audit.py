"""``lakeguard audit``: list, head and verify, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell


@pytest.fixture
def project(tmp_path: Path) -> Path:
    numbers_project(tmp_path).close()
    return tmp_path


def test_the_list_names_actor_and_action(project: Path, shell: Shell) -> None:
    listed = shell("audit", "list", "--project", project)
    assert listed.code == 0, listed.err
    assert "apply" in listed.out
    rows = shell("audit", "list", "--project", project, "--json", "--limit", "1").data["rows"]
    assert [row["allowed"] for row in rows] == [True]
    none = shell("audit", "list", "--project", project, "--dataset", NUMBERS, "--since", "1d")
    assert "nothing recorded" in none.out
    assert shell("audit", "list", "--project", project, "--since", "soon").code == 2


def test_an_exported_head_is_verified(project: Path, shell: Shell) -> None:
    file = project / "head.json"
    exported = shell("audit", "head", "--out", file, "--project", project)
    assert exported.code == 0, exported.err
    verified = shell("audit", "verify", "--head", file, "--project", project)
    assert verified.code == 0, verified.err
    assert "every row is as it was recorded" in verified.out
    assert "signed with key" in verified.out
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "head": {**data["head"], "batch": 99}}))
    refused = shell("audit", "verify", "--head", file, "--project", project, "--json")
    assert refused.data["error"]["code"] == "LG-1015"
    file.write_text("{}")
    assert (
        "not an exported head" in shell("audit", "verify", "--head", file, "--project", project).err
    )
