"""A target in the State's own database is refused before anything is asked of a server."""

from __future__ import annotations

from pathlib import Path

from tests.support.projects.shell import Shell

TARGET = """\
target: serving
location: zones/serving
zone: serving
format: postgresql
url: postgresql://db.example/{database}
"""


def test_validate_compares_the_addresses(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    assert shell("init", folder, "--example").code == 0
    settings = folder / "lakeguard.toml"
    settings.write_text('[env.dev]\ndatabase = "postgresql://keeper@db.example:5432/governance"\n')
    target = folder / "definitions" / "targets" / "serving.yaml"
    target.parent.mkdir(exist_ok=True)
    target.write_text(TARGET.format(database="governance"))
    refused = shell("validate", "--project", folder, "--json")
    assert (refused.code, refused.data["error"]["code"]) == (3, "LG-3381")
    assert "keeper" not in refused.out
    target.write_text(TARGET.format(database="reports"))
    assert shell("validate", "--project", folder).code == 0
