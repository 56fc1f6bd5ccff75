"""Spark 3.5, as somebody else installed it, makes the same tables as the Spark of this project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtimes.children import OWN, spark35, told_by
from tests.runtimes.shops import BUILT, make_shop
from tests.runtimes.tables import tables

pytestmark = pytest.mark.runtimes
SUITES = ("tests/spark/schema/test_casts.py", "tests/spark/loads/test_loads_hashes.py")
ITS_OWN = "ignore::pytest.PytestUnraisableExceptionWarning"
"""Spark 3.5 leaves sockets to be closed by whoever cleans up."""
NEEDS_DELTA = "every_strategy"


def test_the_same_program_makes_the_same_tables(tmp_path: Path) -> None:
    seen, made = {}, {}
    for python in (OWN, spark35()):
        folder = tmp_path / f"lake {len(seen)}"
        make_shop(folder)
        document = json.loads(
            told_by(python, "-m", "tests.runtimes.program", "local[2]", str(folder))
        )
        seen[document.pop("spark")[:4]] = document
        made[folder] = tables(folder, (*BUILT, "silver.marks"))
    assert list(seen) == ["4.2.", "3.5."]
    ours, theirs = seen.values()
    assert ours == theirs
    assert ours["versions"] == dict.fromkeys(BUILT, 2)
    assert ours["registered"] == {**ours["versions"], "silver.marks": 1}
    assert (ours["before"], ours["now"], ours["shown"]) == (3, 4, 4)
    assert (ours["same"], ours["changed"], ours["views"]) == (True, [], ["mine"])
    assert ours["delta"] is False, "no jar of Delta is needed to write and to read"
    first, second = made.values()
    assert first == second


def test_json_lines_are_refused_rather_than_read_otherwise(tmp_path: Path) -> None:
    output = told_by(spark35(), "-m", "tests.runtimes.json_lines", str(tmp_path / "lake"))
    assert output.split(maxsplit=1)[0] == "LG-1110"
    assert "this is Spark 3.5.9; a JSON Lines source needs 4.0 or newer" in output


def test_casts_and_hashes_are_the_same_on_it(tmp_path: Path) -> None:
    pytest_ = ("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'suites'}")
    asked = ("-W", ITS_OWN, "-k", f"not {NEEDS_DELTA}", *SUITES)
    assert " passed" in told_by(spark35(), *pytest_, *asked)
