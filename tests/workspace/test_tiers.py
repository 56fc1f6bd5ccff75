"""What is named for a tier exists, so that a test that is renamed does not change its tier."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tiers import BOTH_DATABASES, LONG, OF_THE_LAKE, SMOKE

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted(BOTH_DATABASES | LONG | OF_THE_LAKE))
def test_a_named_file_exists(path: str) -> None:
    assert (TESTS / path).is_file()


@pytest.mark.parametrize("name", SMOKE)
def test_the_smoke_of_spark_exists(name: str) -> None:
    (file,) = (TESTS / "spark").rglob(name)
    text = file.read_text("utf-8")
    for function in SMOKE[name]:
        assert f"\ndef {function}(" in text
