"""``[env.NAME.outbound]``: which addresses requests may reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.settings import Settings, load_settings
from lakeguard_sdk.errors import SettingsError


def settings(folder: Path, text: str) -> Settings:
    (folder / "lakeguard.toml").write_text(f"[env.dev.outbound]\n{text}")
    return load_settings(folder, "dev")


def test_every_address_may_be_reached_by_default(tmp_path: Path) -> None:
    assert settings(tmp_path, "").outbound.rules.allows("127.0.0.1")


def test_private_networks_are_named(tmp_path: Path) -> None:
    rules = settings(tmp_path, 'private = false\nallow = ["10.1.0.0/16", "::1"]').outbound.rules
    assert rules.allows("10.1.0.1")
    assert rules.allows("::1")
    assert not rules.allows("127.0.0.1")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("private = 1", "env.dev.outbound.private: write true or false"),
        ("private = false\nallow = '10.0.0.0/8'", "write a list"),
        ("private = false\nallow = ['10.1.0.0/8']", "'10.1.0.0/8' is not a network such as"),
        ("private = false\nallow = [7]", "write a list"),
        ("allow = ['10.0.0.0/8']", "has no effect without private = false"),
        ("privat = false", "did you mean private"),
    ],
)
def test_a_wrong_setting_names_its_key(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        _ = settings(tmp_path, text)
