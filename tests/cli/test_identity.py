"""``org``, ``user``, ``role`` and ``token`` on the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.access.principal import Principal
from lakeguard.cli.commands.operate.identity import ROLES
from lakeguard.cli.commands.operate.service_tokens import ACTIONS
from lakeguard.plane import open_state
from lakeguard.service_plane import authenticator_for
from lakeguard.settings import load_settings
from lakeguard.settings.identity import ROLES as MAPPED
from lakeguard_sdk.errors import BadToken
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, Path]:
    numbers_project(tmp_path).close()
    return ("--project", tmp_path)


def test_users_and_roles(shell: Shell, place: tuple[str, Path]) -> None:
    assert "member" in shell("user", "create", "ada", *place).out
    granted = shell("role", "grant", "ada", "engineer", "--on", "bronze.numbers", *place)
    assert "GRANTED" in granted.out, granted.err
    (row,) = shell("role", "list", "ada", "--json", *place).data["grants"]
    assert (row["role"], row["on"]) == ("engineer", "bronze.numbers")
    gone = shell("role", "revoke", row["grant_id"], "--reason", "left the team", *place)
    assert "REVOKED" in gone.out
    assert shell("role", "list", *place).out == "no grants\n"
    assert "engineer" in shell("role", "list", "--all", *place).out
    assert "REVOKED" in shell("user", "revoke", "ada", "--reason", "left", *place).out
    assert "ACTIVE" in shell("user", "restore", "ada", *place).out
    (ada, _) = sorted(
        shell("user", "list", "--json", *place).data["users"], key=lambda row: row["origin"]
    )
    assert (ada["user_name"], ada["active"]) == ("ada", True)


def test_a_token_is_printed_once_and_lets_in(shell: Shell, place: tuple[str, Path]) -> None:
    made = shell("token", "create", "ci", "--allow", "read", "--on", "bronze", *place)
    text = made.out.strip()
    settings = load_settings(place[1])
    database = open_state(settings)

    def principal(token: str) -> Principal:
        """As a process that has not read the token before."""
        authenticator = authenticator_for(settings, database)
        return authenticator.authenticate(f"Bearer {token}")

    assert principal(text).name == "token:ci"
    listed = shell("token", "list", *place).out
    assert "ci" in listed
    assert text.rpartition(".")[2] not in listed
    again = shell("token", "rotate", "ci", "--overlap-hours", "0", "--json", *place).data["token"]
    with pytest.raises(BadToken):
        principal(text)
    assert principal(again).name == "token:ci"
    assert "REVOKED" in shell("token", "revoke", "ci", "--reason", "leaked", *place).out
    with pytest.raises(BadToken):
        principal(again)
    assert shell("token", "list", *place).out == "no service tokens\n"


def test_organisations(shell: Shell, place: tuple[str, Path]) -> None:
    assert "others" in shell("org", "create", "others", *place).out
    assert "REVOKED" in shell("org", "revoke", "others", "--reason", "ended", *place).out
    assert "ACTIVE" in shell("org", "restore", "others", *place).out
    rows = shell("org", "list", "--json", *place).data["organisations"]
    assert [row["organisation"] for row in rows] == ["default", "others"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("role", "grant", "nobody", "viewer"), "LG-1683"),
        (("user", "revoke", "nobody", "--reason", "x"), "LG-1683"),
        (("role", "revoke", "grt_x", "--reason", "x"), "LG-1684"),
        (("token", "rotate", "nothing"), "LG-1685"),
        (("token", "create", " x", "--allow", "read"), "LG-1686"),
        (("token", "create", "x", "--allow", "read", "--on", "platinum"), "LG-1682"),
        (("org", "revoke", "nowhere", "--reason", "x"), "LG-1687"),
        (("org", "create", "No Where"), "LG-1001"),
        (("user", "create", "token:ci"), "LG-1681"),
    ],
)
def test_what_is_wrong_has_a_code(
    shell: Shell, place: tuple[str, Path], words: tuple[str, ...], code: str
) -> None:
    result = shell(*words, *place)
    assert result.code == 2
    assert code in result.err


def test_choices_are_named_in_a_line(shell: Shell, place: tuple[str, Path]) -> None:
    told = shell("token", "create", "ci", *place).err
    assert f"Missing option '--allow'. Choose from: {', '.join(ACTIONS)}\n" in told


@pytest.mark.parametrize("kind", ["org", "user", "role", "token"])
def test_a_revocation_needs_a_reason(shell: Shell, place: tuple[str, Path], kind: str) -> None:
    result = shell(kind, "revoke", "somebody", *place)
    assert (result.code, result.err.splitlines()) == (
        2,
        ["LG-1000  Missing option '--reason'.", f"Next: lakeguard {kind} revoke --help"],
    )


def test_the_words_of_the_commands_are_those_of_access() -> None:
    from lakeguard.access.authorise import GRANTABLE
    from lakeguard.access.principal import Role

    assert list(ROLES) == list(MAPPED) == [role.value for role in Role]
    assert set(ACTIONS) == GRANTABLE
