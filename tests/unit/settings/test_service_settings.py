"""The section ``service`` of an environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.settings import ServiceSettings, load_settings
from lakeguard_sdk.errors import SettingsError


def loaded(folder: Path, text: str) -> ServiceSettings:
    (folder / "lakeguard.toml").write_text(f"[env.dev]\n[env.dev.service]\n{text}")
    return load_settings(folder).service


def test_nothing_is_needed(tmp_path: Path) -> None:
    assert loaded(tmp_path, "") == ServiceSettings()


def test_limits(tmp_path: Path) -> None:
    found = loaded(tmp_path, "requests_per_minute = 60\nrefused_tokens_per_minute = 1")
    assert (found.requests_per_minute, found.refused_tokens_per_minute) == (60, 1)
    assert found.work_requests_per_minute == ServiceSettings().work_requests_per_minute


def test_how_it_is_reached(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        'tls_cert = "tls.pem"\ntls_key = "/etc/key"\ntrusted_proxies = ["::1", "10.1.0.0/16"]',
    )
    assert (found.tls_cert, found.tls_key) == (tmp_path / "tls.pem", Path("/etc/key"))
    roots = loaded(tmp_path, 'source_roots = ["in", "/srv/in", "s3://b/in"]').source_roots
    assert roots == (str(tmp_path / "in"), "/srv/in", "s3://b/in")
    assert found.trusted_proxies == ("::1/128", "10.1.0.0/16")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("requests_per_minute = 0", "whole number"),
        ("requests_per_minute = true", "whole number"),
        ('work_requests_per_minute = "many"', "whole number"),
        ("refused_tokens_per_minute = 1_000_001", "whole number"),
        ('tls_cert = "tls.pem"', "both tls_cert and tls_key"),
        ('traces = "collector:4318"', "https://HOST"),
        ('traces = "http://me:secret@collector:4318"', "secret"),
        ('source_roots = "/srv"', "write a list"),
        ('source_roots = ["/srv/*"]', "pattern"),
        ('source_roots = ["ftp://host/in"]', "write a folder"),
        ('trusted_proxies = "10.0.0.1"', "write a list"),
        ('trusted_proxies = ["*"]', "not a network"),
        ('trusted_proxies = ["0.0.0.0/0"]', "every address"),
        ('trusted_proxies = ["proxy.example"]', "not a network"),
        ("request_per_minute = 1", "did you mean requests_per_minute"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        loaded(tmp_path, text)
