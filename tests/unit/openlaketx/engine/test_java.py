"""Java is found, or its absence is reported with a fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.errors import JavaMissing
from openlaketx.engine.spark.jars import find_java, java_version


def make_java(home: Path, release: str | None = None, script: str = "exit 1") -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release)
    return java


@pytest.mark.parametrize(
    ("release", "version"),
    [('JAVA_VERSION="17.0.15"\n', 17), ('X="1"\nJAVA_VERSION="1.8.0_40"\n', 8)],
)
def test_the_release_file_tells_the_version(tmp_path: Path, release: str, version: int) -> None:
    assert java_version(make_java(tmp_path, release)) == version


def test_without_one_java_is_asked(tmp_path: Path) -> None:
    java = make_java(tmp_path, script="echo 'openjdk version \"21.0.1\" 2023-10-17' >&2")
    assert java_version(java) == 21


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = make_java(tmp_path, 'JAVA_VERSION="17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == java


@pytest.mark.parametrize(
    ("release", "script", "about"),
    [
        ('JAVA_VERSION="11.0.1"', "exit 0", "is version 11"),
        ('IMPLEMENTOR="x"', "exit 0", "does not report its version"),
        (None, "echo nonsense >&2", "does not report its version"),
    ],
)
def test_a_java_that_does_not_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str | None, script: str, about: str
) -> None:
    make_java(tmp_path, release, script)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissing, match=about):
        find_java()


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaMissing):
        find_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissing, match="has no bin/java"):
        find_java()
