"""Column names that a table cannot have together."""

from __future__ import annotations

import pytest

from openlaketx.extract.batch import name_problem


@pytest.mark.parametrize(
    ("names", "about"),
    [
        (("a", "b"), None),
        (("a", "b", "a"), "duplicate column 'a'"),
        (("a", "A"), "'a' and 'A' differ in case only"),
        (("a", ""), "no name"),
        (("a", " "), "no name"),
        (("straße", "STRASSE"), "differ in case only"),
    ],
)
def test_names(names: tuple[str, ...], about: str | None) -> None:
    problem = name_problem(names)
    assert problem is None if about is None else about in str(problem)
