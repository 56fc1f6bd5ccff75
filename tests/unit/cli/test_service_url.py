"""What LAKEGUARD_URL may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.cli.main import call

UNREACHABLE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lakeguard.toml").write_text("[env.dev]\n")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("127.0.0.1:8611", "must begin with http:// or https://"),
        ("ftp://lake.example.org", "must begin with http:// or https://"),
        ("ada:hunter2@lake.example.org", "must begin with http:// or https://"),
        ("http://", "has no valid host and port"),
        ("http://ada:hunter2@lake.example.org:port", "has no valid host and port"),
        ("http://[::1", "has no valid host and port"),
        ("http://ada:hunter2@127.0.0.1:1", "must not have a user or password"),
    ],
)
def test_what_is_no_url_of_a_service_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str, problem: str
) -> None:
    monkeypatch.setenv("LAKEGUARD_URL", url)
    for command in ("status", "apply", "serve", "doctor", "jobs list"):
        assert call(command.split()) == 2
        shown = capsys.readouterr().err
        assert f"LG-1710  LAKEGUARD_URL {problem}" in shown
        assert "hunter2" not in shown


def test_blanks_around_the_url_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAKEGUARD_URL", " \n")
    assert call(["status"]) == 0, "the folder is asked"
    capsys.readouterr()
    monkeypatch.setenv("LAKEGUARD_URL", f" {UNREACHABLE}/ \n")
    assert call(["status"]) == 1
    assert "LG-6003" in capsys.readouterr().err, "the service is"
