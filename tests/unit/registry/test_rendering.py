"""Rendering of errors with their source line."""

from __future__ import annotations

from pathlib import Path

from lakeguard.registry.text.error_rendering import render_error, render_errors
from lakeguard_sdk.errors import BadSql, Place, UnknownRuleType, WrongValue
from tests.support.projects.definition_folders import SHOP, SILVER, mistakes


def test_a_typo_is_shown_where_it_stands(tmp_path: Path) -> None:
    text = SILVER.replace("unique(", "uniqe(")
    errors = mistakes(tmp_path, {**SHOP, "definitions/silver/orders.yaml": text})
    assert list(render_errors(errors, tmp_path)) == [
        "definitions/silver/orders.yaml:10:5  LG-2013  unknown rule type 'uniqe'\n"
        "    rules:\n"
        "      - uniqe(order_id)\n"
        "        ^^^^^ did you mean unique?"
    ]


def rule_error(line: int, column: int, length: int, hint: str = "") -> UnknownRuleType:
    place = Place(file="f.yaml", line=line, column=column, length=length)
    return UnknownRuleType(place, type="x", hint=hint)


def test_the_key_above_is_shown_over_blank_lines_and_comments() -> None:
    lines = ["a:", "  rules:", "", "  # why", "  - one", "  - two"]
    assert render_error(rule_error(6, 5, 3), lines).splitlines()[1:] == [
        "    rules:",
        "    - two",
        "      ^^^",
    ]


def test_a_line_of_its_own_stands_alone() -> None:
    assert render_error(rule_error(1, 1, 4), ["ownr: x"]).splitlines()[1:] == [
        "    ownr: x",
        "    ^^^^",
    ]


def test_wide_characters_are_underlined_in_columns() -> None:
    shown = render_error(rule_error(1, 4, 2), ["名: 値段 x"]).splitlines()
    assert shown[1:] == ["    名: 値段 x", "        ^^^^"]


def test_what_a_terminal_would_act_on_is_replaced() -> None:
    shown = render_error(rule_error(1, 4, 3), ["a: \x1b[2Jb\tc\u202e"])
    assert shown.splitlines()[1] == "    a: \ufffd[2Jb c\ufffd"


def test_a_long_line_is_cut_around_the_mark() -> None:
    line = "a: " + "x" * 500 + "WRONG" + "y" * 500
    text, carets = render_error(rule_error(1, 504, 5), [line]).splitlines()[1:]
    assert len(text) < 130
    assert text[carets.index("^") : carets.rindex("^") + 1] == "WRONG"


def test_without_the_file_the_hint_stands_in_the_sentence() -> None:
    shown = render_error(rule_error(9, 1, 1, "; did you mean y?"), ["a"])
    assert shown == "f.yaml:9:1  LG-2013  unknown rule type 'x'; did you mean y?"
    place = Place(file="definitions/slver")
    misplaced = WrongValue(
        place, key="slver", problem="not a folder", hint="; did you mean silver?"
    )
    assert render_error(misplaced, []).endswith("slver: not a folder; did you mean silver?")


def test_sql_is_shown_by_its_line_alone() -> None:
    place = Place(file="sql/a.sql", line=2, column=9, length=8)
    shown = render_error(BadSql(place, problem="no", hint=""), ["select *", "  from  bronze.x"])
    assert shown.splitlines()[1:] == ["    from  bronze.x", "          ^^^^^^^^"]
