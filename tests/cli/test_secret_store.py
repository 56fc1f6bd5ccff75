"""``secret://`` references: refused where nothing resolves them, resolved by a command of the
settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.errors import SecretMissing
from lakeguard_sdk.security.secret_references import resolve
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.shell import Shell

SOURCE = """\
source: crm
format: csv
url: https://crm.example/{token}/orders.csv
secrets: {token: "secret://crm/token"}
"""
JOB = """\
job: call_outside
type: http
details: {signing_secret: "secret://flows"}
config: {url: https://flows.example/start}
"""


@pytest.mark.parametrize(
    ("file", "text"), [("sources/crm.yaml", SOURCE), ("jobs/call_outside.yaml", JOB)]
)
@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_a_reference_that_nothing_resolves_is_refused(
    shell: Shell, tmp_path: Path, command: str, file: str, text: str
) -> None:
    write_folder(tmp_path, {f"definitions/{file}": text, "lakeguard.toml": "[env.dev]\n"})
    refused = shell(command, "--project", tmp_path)
    assert refused.code == 2
    assert refused.err.startswith("LG-1014  ")
    assert "secret://" in refused.err
    assert "[env.NAME.secrets]" in refused.err


def test_a_command_of_the_settings_resolves_it(shell: Shell, tmp_path: Path) -> None:
    program = tmp_path / "read-secret"
    program.write_text(
        '#!/bin/sh\n[ "$2" = crm/token ] || { echo hunter2 >&2; exit 3; }\necho $1\n'
    )
    program.chmod(0o755)
    settings = f'[env.dev.secrets]\ncommand = ["{program}", "value of"]\n'
    write_folder(tmp_path, {"definitions/sources/crm.yaml": SOURCE, "lakeguard.toml": settings})
    assert shell("apply", "--project", tmp_path).code == 0
    with connect(tmp_path):
        assert resolve("secret://crm/token") == "value of"
        with pytest.raises(SecretMissing, match="read-secret ended with exit code 3") as missing:
            resolve("secret://another")
        assert "hunter2" not in str(missing.value)
        with pytest.raises(SecretMissing, match="does not start with -"):
            resolve("secret://--help")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ('"vault"', "write a list"),
        ("[]", "name a program"),
        ('["vault", "--password=hunter2x"]', "looks like a secret"),
    ],
)
def test_a_command_that_is_none_is_refused(
    shell: Shell, tmp_path: Path, command: str, problem: str
) -> None:
    (tmp_path / "lakeguard.toml").write_text(f"[env.dev.secrets]\ncommand = {command}\n")
    assert problem in shell("plan", "--project", tmp_path).err
