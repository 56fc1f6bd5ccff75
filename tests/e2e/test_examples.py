"""The example projects, tested as their owners test them: nothing is written beside them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/lakeguard.toml"))
pytestmark = pytest.mark.spark


@pytest.fixture(scope="session")
def warm() -> None:
    """The examples have a Spark of their own."""


def own_tests(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(ROOT / "examples" / request.param, tmp_path / "it", ignore=ignored))


def there(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if "__pycache__" not in path.parts}


@pytest.mark.parametrize("copy", EXAMPLES, indirect=True)
def test_an_example_passes_its_own_tests_and_stays_as_it_is(copy: Path) -> None:
    before = there(copy)
    done = own_tests(copy)
    assert done.returncode == 0, done.stdout
    written = (copy / "tests").glob("test_*.py")
    count = sum(len(re.findall(r"^def test_", path.read_text("utf-8"), re.M)) for path in written)
    assert f"{count} passed" in done.stdout
    assert there(copy) == before


@pytest.mark.parametrize("copy", ["orders"], indirect=True)
def test_a_rule_that_somebody_takes_away_is_missed(copy: Path) -> None:
    """The tests of a project are about its definitions: they fail when those grow weaker."""
    file = copy / "definitions" / "silver" / "orders.yaml"
    text = file.read_text("utf-8")
    assert "  - unique(order_id)\n" in text
    file.write_text(text.replace("  - unique(order_id)\n", ""), "utf-8")
    done = own_tests(copy, "-k", "comes_twice")
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "no such rule 'unique.order_id'" in done.stdout


def test_there_are_examples() -> None:
    assert EXAMPLES == ["orders"]
