"""Errors in profile.every: place, message and next command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import SHOP, SILVER, mistakes

FILE = "definitions/silver/orders.yaml"
WRITE = "every: write version, or a duration such as 1d"


def case(name: str, given: str, code: str = "LG-2004", says: str = WRITE) -> Case:
    return Case(name, SILVER, "columns:", f"profile: {given}\ncolumns:", code, says)


CASES = [
    case("another word", "{every: «run»}"),
    case("in capitals", "{every: «Version»}"),
    case("no unit", "{every: «7»}"),
    case("words for a time", "{every: «1 day»}"),
    case("never", "{every: «0d»}"),
    case("too long", "{every: «1000000d»}"),
    case("nothing between quotes", "{every: «''»}"),
    case("a list", "{every: «[1d]»}", says="every: "),
    case("no value", "{«every»: }", "LG-2003", "'every'"),
    case("another key", "{every: 1d, «evry»: 2d}", "LG-2002", "every"),
    case("no mapping", "«version»", says="{every: version}"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_place_is_told(case: Case, tmp_path: Path) -> None:
    check(case, FILE, tmp_path)


def test_the_next_command_is_told(tmp_path: Path) -> None:
    text = SILVER.replace("columns:", "profile: {every: run}\ncolumns:", 1)
    (error,) = mistakes(tmp_path, {**SHOP, FILE: text})
    assert error.next_step == "lakeguard validate"


@pytest.mark.parametrize("given", ["version", "1d", "90m", "2w"])
def test_what_is_right_is_accepted(given: str, tmp_path: Path) -> None:
    text = SILVER.replace("columns:", f"profile: {{every: {given}}}\ncolumns:", 1)
    assert mistakes(tmp_path, {**SHOP, FILE: text}) == ()
