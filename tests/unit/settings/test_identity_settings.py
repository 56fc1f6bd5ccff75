"""The section ``identity`` of an environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.settings import IdentitySettings, load_settings
from lakeguard_sdk.errors import SettingsError

ISSUER = 'issuer = "https://login.example.org"\naudience = "lakeguard"\n'


def loaded(folder: Path, text: str) -> IdentitySettings:
    (folder / "lakeguard.toml").write_text(f"[env.dev]\n[env.dev.identity]\n{text}")
    return load_settings(folder).identity


def test_nothing_is_needed(tmp_path: Path) -> None:
    assert loaded(tmp_path, "") == IdentitySettings()


def test_an_issuer_and_its_claims(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        ISSUER
        + """
key = "env:IDENTITY_KEY"
algorithms = ["ES256"]
user_claim = "email"
roles_claim = "groups"
roles = { a = "viewer gold", b = ["engineer", "pii domain:people"] }
require_id = true
leeway_seconds = 0
""",
    )
    assert (found.issuer, found.audience) == ("https://login.example.org", "lakeguard")
    assert found.key is not None
    assert found.roles == {"a": ("viewer gold",), "b": ("engineer", "pii domain:people")}
    assert (found.algorithms, found.require_id, found.leeway_seconds) == (("ES256",), True, 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('issuer = "https://login.example.org"', "both issuer and audience"),
        ('issuer = "http://login.example.org"\naudience = "x"', "https://"),
        ('issuer = "https://a:b@login.example.org"\naudience = "x"', "secret"),
        (ISSUER + 'key_set_url = "file:///etc/passwd"', "https://"),
        (ISSUER + 'algorithms = ["HS256"]', "algorithms"),
        (ISSUER + 'algorithms = ["none"]', "algorithms"),
        (ISSUER + "algorithms = []", "algorithms"),
        (ISSUER + 'require_id = "yes"', "true or false"),
        (ISSUER + "timeout_seconds = -1", "whole number"),
        (ISSUER + 'roles = { a = "owner" }', "write one of"),
        ('key = "a secret in plain text"', "reference"),
        ("isuer = 1", "unknown key"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        loaded(tmp_path, text)
