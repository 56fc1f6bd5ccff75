"""The environment of another Spark is made once, of what is locked, and told where it cannot be."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).parents[2] / "setup"


@pytest.fixture
def other_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """In a tree of its own, with a uv that only writes down what it is told."""
    monkeypatch.syspath_prepend(str(SETUP))
    spec = importlib.util.spec_from_file_location("other_spark", SETUP / "other_spark.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "setup").mkdir()
    (tmp_path / "requirements.lock").write_text("all==1\n")
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(module.provision, "ROOT", tmp_path)
    monkeypatch.setattr(module.provision, "PYTHON", tmp_path / "bin" / "python")
    monkeypatch.setattr(module.provision, "index_settings", dict)
    monkeypatch.setattr(module, "VENV", tmp_path / "venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / "made-of")
    uv(tmp_path, f'echo "$*" >> {tmp_path}/calls')
    return module


def uv(folder: Path, body: str) -> None:
    file = folder / "bin" / "uv"
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text("utf-8").splitlines()


def test_it_is_made_once_and_again_after_a_change(other_spark: ModuleType, tmp_path: Path) -> None:
    assert other_spark.main() == other_spark.main() == 0
    assert len(calls(tmp_path)) == 4
    assert calls(tmp_path)[-1].endswith("--require-hashes -r setup/runtimes/spark35.txt")
    (tmp_path / "requirements.lock").write_text("all==2\n")
    assert other_spark.main() == 0
    assert len(calls(tmp_path)) == 8


def test_a_failure_is_told_and_leaves_nothing_that_looks_done(
    other_spark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uv(tmp_path, "echo 'no route to host' >&2; exit 2")
    assert other_spark.main() == 1
    assert "no route to host" in capsys.readouterr().err
    assert not other_spark.up_to_date()
