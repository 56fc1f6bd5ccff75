"""Valid definitions that will not do what they say are told by validate, plan and apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.shell import Shell

BRONZE, SILVER = "definitions/bronze/orders.yaml", "definitions/silver/orders.yaml"
FREEZE = "policy: winter\ntype: CHANGE_FREEZE\nexpression: freeze {}\n"


@pytest.fixture
def lake(shell: Shell, tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    assert shell("init", folder, "--example").code == 0
    set_load(folder, BRONZE, "{type: FULL}")
    return folder


def set_load(lake: Path, file: str, load: str) -> None:
    text = (lake / file).read_text()
    lines = [line for line in text.splitlines() if not line.startswith("load:")]
    (lake / file).write_text("\n".join([*lines, f"load: {load}"]) + "\n")


def test_an_append_below_a_full_load_is_told(shell: Shell, lake: Path) -> None:
    set_load(lake, SILVER, "{type: APPEND}")
    warning = (
        "! warning  dataset silver.orders: APPEND adds the new rows of bronze.orders, which"
        " replaces all its rows in every run (load FULL), so runs after the first one fail: set"
        " load type FULL, or INCREMENTAL with keys, or a watermark"
    )
    for command in ("validate", "plan", "apply"):
        result = shell(command, "--project", lake)
        assert (result.code, warning in result.out) == (0, True), result
    assert warning in shell("validate", "--project", lake).out
    assert "warning" not in shell("plan", "--project", lake).out, "nothing of it changes"
    (told,) = shell("validate", "--project", lake, "--json").data["definition_warnings"]
    assert told["about"] == "dataset silver.orders"


@pytest.mark.parametrize(
    "load", ["{type: FULL}", "{type: INCREMENTAL, keys: [order_id]}"], ids=["full", "keyed"]
)
def test_other_loads_below_a_full_load_are_not(shell: Shell, lake: Path, load: str) -> None:
    set_load(lake, SILVER, load)
    result = shell("validate", "--project", lake, "--json")
    assert (result.code, result.data["definition_warnings"]) == (0, [])


def test_a_freeze_that_is_over_is_told(shell: Shell, lake: Path) -> None:
    set_load(lake, SILVER, "{type: FULL}")
    file = lake / "definitions/policies/winter.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(FREEZE.format("2020-12-20..2021-01-03"))
    warning = (
        "! warning  policy winter: freeze 2020-12-20..2021-01-03 is over and never applies again:"
        " set other days, or remove it"
    )
    for command in ("validate", "apply"):
        result = shell(command, "--project", lake)
        assert (result.code, warning in result.out) == (0, True), result
    for days in ("2020-12-20..9999-12-31", "saturday..sunday"):
        file.write_text(FREEZE.format(days))
        assert "warning" not in shell("validate", "--project", lake).out
    file.write_text(FREEZE.format("2020-12-20..2021-01-03") + "active: false\n")
    assert "warning" not in shell("validate", "--project", lake).out
