"""``python -m demo``: the story comes out as told, and can be looked at after."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.projects.terminal import Terminal

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.spark


def test_the_story_comes_out_as_told(tmp_path: Path) -> None:
    lake = tmp_path / "demo-lake"
    done = subprocess.run(
        [sys.executable, "-m", "demo", str(lake)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for number in range(1, 7):
        assert f"{number}/6  " in done.stdout
    assert "✗ BLOCKED  silver.flights   nothing was published; v1 stays visible" in done.stdout
    assert "✓ PROMOTED  gold.daily_delays v2" in done.stdout
    assert "✓ IDENTICAL" in done.stdout
    for line in done.stdout.partition("Try:")[2].strip().splitlines():
        words = line.split("lakeguard ", 1)[1]
        if "rollback" not in words:
            tried = Terminal(ROOT).type(f"lakeguard {words}")
            assert tried.code == 0, tried
