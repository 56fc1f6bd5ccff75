"""The page for testers names every call, and the tests on it pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard_sdk import testing
from lakeguard_sdk.testing.plugin import PROJECT, SPARK

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "testing.md").read_text("utf-8")


def test_every_call_is_on_the_page() -> None:
    for name in vars(testing.Lake):
        if not name.startswith("_"):
            assert re.search(rf"`lake\.{name}\b", PAGE), name
    for name in ("client", "folder", "spark"):
        assert f"`lake.{name}`" in PAGE, name
    for name in testing.__all__:
        assert name == "Lake" or f"`{name}(lake, " in PAGE, name


def test_every_setting_is_on_the_page() -> None:
    for name in (PROJECT, SPARK):
        assert f"\n{name} =" in PAGE
        assert f"`{name}`" in PAGE


@pytest.mark.spark
def test_the_tests_on_the_page_pass_and_a_mistake_is_told_as_there(tmp_path: Path) -> None:
    """In the example project, in the place of its own."""
    project = tmp_path / "shop"
    shutil.copytree(
        ROOT / "examples" / "orders", project, ignore=shutil.ignore_patterns("tests", "pytest.ini")
    )
    (settings,) = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "pytest.ini").write_text(settings, "utf-8")
    shown = re.findall(r"```python\n# tests/(\w+\.py)\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) == PAGE.count("```python") == 2
    for name, text in shown:
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "test_told.py").write_text(mistaken(shown[0][1]), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    (reported,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    found = re.findall(r"^E {7}(.*)$", done.stdout, re.MULTILINE)
    assert unnumbered(found) == unnumbered(reported.splitlines())


def unnumbered(lines: list[str]) -> list[str]:
    """Without the ids of runs."""
    return [re.sub(r"run_\w{26}", "RUN", line) for line in lines]


def mistaken(text: str) -> str:
    """The same test, with a rule that was kept in the place of the broken one."""
    right = 'rule="unique.order_id", failed_rows=2'
    assert text.count(right) == 1
    return text.replace(right, 'rule="range.amount"')
