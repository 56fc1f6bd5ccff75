"""Secrets of the control plane leave the environment, and the settings find them still."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard.settings import hide_secrets, load_settings
from lakeguard.settings import settings as nouns
from lakeguard_sdk.errors import SecretMissing, SettingsError
from lakeguard_sdk.security.secret_references import resolve

SETTINGS = """\
[env.dev]
database = "postgresql://lakeguard@db.example/governance"
password = "env:HIDDEN_PASSWORD"
[[env.dev.alerts.channel]]
type = "webhook"
url = "https://hooks.example/alerts"
secret = "env:HIDDEN_SIGNING"
"""


@pytest.fixture(autouse=True)
def own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr(nouns, "_held", {})


def test_what_settings_name_is_found_by_them_alone(tmp_path: Path) -> None:
    (tmp_path / "lakeguard.toml").write_text(SETTINGS)
    secrets = {"HIDDEN_PASSWORD": "first", "HIDDEN_SIGNING": "second"}
    os.environ |= {**secrets, "PGHOST": "db.example", "PGSSLMODE": "require", "API_KEY": "third"}
    settings = load_settings(tmp_path)
    hide_secrets(settings)
    hide_secrets(settings)
    assert not {*secrets, "PGHOST", "PGSSLMODE"} & set(os.environ)
    assert settings.database.password is not None
    assert settings.database.password.resolve() == "first"
    (channel,) = settings.alert_channels
    assert channel.secret is not None
    assert channel.secret.resolve() == "second"
    assert resolve("env:API_KEY") == "third"
    with pytest.raises(SecretMissing):
        resolve("env:HIDDEN_PASSWORD")


def test_a_password_that_the_settings_do_not_name_is_refused(tmp_path: Path) -> None:
    unnamed = '[env.dev]\ndatabase = "postgresql://lakeguard@db.example/governance"\n'
    (tmp_path / "lakeguard.toml").write_text(unnamed)
    os.environ["PGPASSWORD"] = "hush"
    with pytest.raises(SettingsError, match="PGPASSWORD is not supported") as refused:
        hide_secrets(load_settings(tmp_path))
    assert "hush" not in str(refused.value)
    (tmp_path / "lakeguard.toml").write_text("[env.dev]\n")
    hide_secrets(load_settings(tmp_path))
    assert "PGPASSWORD" not in os.environ


def test_a_worker_is_not_to_be_looked_into() -> None:
    asked = (
        "import ctypes; from lakeguard.worker import isolate_process; isolate_process();"
        " print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    found = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert found.stdout == "0\n"
