"""The import contracts are kept, and each of them can be broken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("lakeguard-sdk", "lakeguard", "openlaketx")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the sources, to spoil."""
    ignore = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / "packages" / package / "src", tmp_path, ignore=ignore, dirs_exist_ok=True
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def complaints(tree: Path) -> str:
    """What import-linter says of broken contracts; empty if every one is kept."""
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "lint-imports", "--no-cache", "--config", "pyproject.toml"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout.partition("Broken contracts")[2]


def test_every_contract_is_kept(tree: Path) -> None:
    assert complaints(tree) == ""


FORBIDDEN = {
    "lakeguard.insight.spoilt -> openlaketx": "The planes meet only in the SDK",
    "openlaketx.engine.spoilt -> lakeguard": "The planes meet only in the SDK",
    "lakeguard.cli.spoilt -> tools": "No package imports the tools of the repository",
    "lakeguard.lake.spoilt -> pyspark": "The control plane never needs Spark",
    "openlaketx.stage.spoilt -> sqlalchemy": "The data plane never sees the control plane's tools",
    "lakeguard_sdk.spoilt -> deltalake": "The SDK stands on pydantic and httpx alone",
    "lakeguard_sdk.testing.spoilt -> pytest": "The SDK stands on pydantic and httpx alone",
    "lakeguard.state.spoilt -> lakeguard.ledger": "a room imports only those below it",
    "lakeguard.gate.below -> lakeguard.lake": "a room imports only those below it",
    "openlaketx.extract.spoilt -> openlaketx.stage": "only those before it",
    "lakeguard.gate.spoilt -> yaml": "The gate is pure",
    "lakeguard.gate.clock -> time": "The gate sees no clock",
}


def test_each_forbidden_import_is_found_by_its_contract(tree: Path) -> None:
    for planted in FORBIDDEN:
        importer, imported = planted.split(" -> ")
        path = (tree / importer.replace(".", "/")).with_suffix(".py")
        path.write_text(f"import {imported}\n", encoding="utf-8")
    sections = re.split(r"\n(?=.+\n-+\n)", complaints(tree))
    missed = {
        planted: contract
        for planted, contract in FORBIDDEN.items()
        if not any(contract in section and planted in section for section in sections)
    }
    assert missed == {}


@pytest.mark.parametrize("room", ["lakeguard.cellar", "openlaketx.cellar"])
def test_a_room_without_a_place_is_found(tree: Path, room: str) -> None:
    (tree / room.replace(".", "/")).with_suffix(".py").touch()
    assert room in complaints(tree)
