"""The recipe cannot be made green by switching tests off."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"


def outcome(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(CONFTEST, folder)
    (folder / "test_it.py").write_text(f"import pytest\n{body}", encoding="utf-8")
    (folder / "test_other.py").write_text("def test_b(): pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "."]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("@pytest.mark.skip\ndef test_a(): pass", "test_it.py::test_a"),
        ("def test_a(): pytest.skip('later')", "test_it.py::test_a"),
        ("@pytest.mark.xfail\ndef test_a(): assert False", "test_it.py::test_a"),
        ("pytest.importorskip('no_such_module')\ndef test_a(): pass", "test_it.py"),
    ],
    ids=["marked", "called", "expected to fail", "whole file"],
)
def test_a_test_that_did_not_run_fails_the_run(tmp_path: Path, body: str, named: str) -> None:
    done = outcome(tmp_path, body)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert named in done.stdout.partition("skipped, which fails the run")[2].splitlines()


def test_a_run_in_which_all_ran_passes(tmp_path: Path) -> None:
    assert outcome(tmp_path, "def test_a(): pass\n").returncode == pytest.ExitCode.OK
