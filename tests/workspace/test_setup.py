"""Set-up finds what is there, says what to type where it cannot go on, and is quick otherwise."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).parents[2] / "setup"


@pytest.fixture
def provision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Set-up as a module, on a machine without Java."""
    spec = importlib.util.spec_from_file_location("provision", SETUP / "provision.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(module, "JAVA_PLACES", (str(tmp_path / "jvm" / "*"),))
    return module


def executable(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def java(home: Path, version: str) -> Path:
    executable(home / "bin" / "java", f"echo 'openjdk version \"{version}\"' >&2")
    return home


def test_java_home_comes_first(
    provision: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java(tmp_path / "jvm" / "other", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "mine", "21.0.2")))
    assert provision.find_java() == (tmp_path / "mine", 21)


def test_java_on_the_path_is_followed_to_its_home(provision: ModuleType, tmp_path: Path) -> None:
    home = java(tmp_path / "elsewhere", "17.0.15")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert provision.find_java() == (home, 17)


def test_an_old_java_is_passed_over(
    provision: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "old", "1.8.0_412")))
    java(tmp_path / "jvm" / "11", "11.0.1")
    java(tmp_path / "jvm" / "17", "17.0.15")
    assert provision.find_java() == (tmp_path / "jvm" / "17", 17)


def test_a_user_is_told_what_to_type_for_java(
    provision: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "bin" / "apt-get", "exit 1")
    monkeypatch.setattr(provision.os, "geteuid", lambda: 1000)
    with pytest.raises(provision.Stop, match="apt-get install -y openjdk-17-jre-headless"):
        provision.install_java()


def test_root_on_debian_gets_java_installed(
    provision: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release without Java 17 gives its default one."""
    home = java(tmp_path / "prepared", "21.0.2")
    calls = tmp_path / "calls"
    executable(
        tmp_path / "bin" / "apt-get",
        f'echo "$*" >> {calls}\n'
        f'case "$*" in *default-jre-headless) /bin/mkdir {tmp_path}/jvm &&'
        f" /bin/mv {home} {tmp_path}/jvm/21;; *openjdk-17*) exit 100;; esac",
    )
    monkeypatch.setattr(provision.os, "geteuid", lambda: 0)
    assert provision.install_java() == (tmp_path / "jvm" / "21", 21)
    assert [line.split()[0] for line in calls.read_text("utf-8").splitlines()] == [
        "update",
        "install",
        "install",
    ]


def test_a_failed_command_shows_what_it_said(provision: ModuleType, tmp_path: Path) -> None:
    broken = executable(tmp_path / "broken", "echo 'no route to host' >&2; exit 2")
    with pytest.raises(provision.Stop, match=r"(?s)Packages are missing.*no route to host"):
        provision.run([broken], "Packages are missing.")


@pytest.mark.parametrize("setting", ["LAKEGUARD_CACHE", "XDG_CACHE_HOME", "HOME"])
def test_a_changed_setting_sets_up_again(
    provision: ModuleType, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    before = provision.fingerprint()
    monkeypatch.setenv(setting, "/somewhere/else")
    assert provision.fingerprint() != before


def test_set_up_is_done_until_a_part_of_it_goes_or_another_java_is_asked_for(
    provision: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provision, "STAMP", tmp_path / "stamp.json")
    home, jar = java(tmp_path / "mine", "17.0.15"), tmp_path / "some.jar"
    jar.write_bytes(b"whole")
    assert not provision.up_to_date()
    provision.remember(home, [jar])
    assert provision.up_to_date()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert provision.up_to_date()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "another"))
    assert not provision.up_to_date()
    monkeypatch.delenv("JAVA_HOME")
    jar.write_bytes(b"half")
    assert not provision.up_to_date()


def test_uv_is_told_what_pip_was_told(
    provision: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSL_CERT_FILE", "UV_DEFAULT_INDEX", "UV_INDEX", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = https://mirror.example/simple\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_CERT", "/our/ca.pem")
    assert provision.index_settings() == {
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "SSL_CERT_FILE": "/our/ca.pem",
    }


def test_every_input_of_set_up_exists(provision: ModuleType) -> None:
    assert [pattern for pattern in provision.INPUTS if not any(provision.ROOT.glob(pattern))] == []


def test_an_old_python_is_told_so(tmp_path: Path) -> None:
    script = str(SETUP / "bootstrap.py")
    pretend = (
        "import runpy, sys; sys.version_info = (3, 9, 2, 'final', 0);"
        f"sys.argv = [{script!r}]; runpy.run_path({script!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", pretend],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "make setup PYTHON=python3.11" in done.stderr
