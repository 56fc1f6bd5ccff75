"""validate, plan, apply, and reading a registry in which nothing has run yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.projects.shell import Shell

SILVER = "definitions/silver/orders.yaml"

NO_RUNS: dict[str, list[object]] = {"runs": [], "open_runs": [], "executions": []}


@pytest.fixture
def lake(shell: Shell, tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    assert shell("init", folder, "--example").code == 0
    return folder


@pytest.fixture
def applied(shell: Shell, lake: Path) -> Path:
    assert shell("apply", "--project", lake).code == 0
    return lake


def edit(lake: Path, file: str, before: str, after: str) -> None:
    text = (lake / file).read_text("utf-8")
    assert before in text
    (lake / file).write_text(text.replace(before, after), "utf-8")


def test_validate_counts(shell: Shell, lake: Path) -> None:
    data = shell("validate", "--project", lake, "--json").data
    assert data == {
        "valid": True,
        "registry_asked": True,
        "counts": {"sources": 1, "datasets": 3, "rules": 14, "policies": 1},
        "definition_warnings": [],
    }
    assert not (lake / ".lakeguard").exists()


@pytest.mark.parametrize("command", ["validate", "plan", "apply"])
def test_a_mistake_is_shown_where_it_stands(shell: Shell, lake: Path, command: str) -> None:
    edit(lake, SILVER, "unique(order_id)", "uniqe(order_id)")
    result = shell(command, "--project", lake)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        f"{SILVER}:18:5  LG-2013  unknown rule type 'uniqe'",
        "    rules:",
        "      - uniqe(order_id)                      # in the whole table as it would be",
        "        ^^^^^ did you mean unique?",
        "",
        "LG-2000  1 error in the definitions",
        "Next: fix the files, then: lakeguard validate",
    ]
    error = shell(command, "--project", lake, "--json").data["error"]
    assert error["errors"][0]["place"] == {
        "file": SILVER, "line": 18, "column": 5, "length": 5,
    }  # fmt: skip


@pytest.mark.parametrize("other", ["{place}", "{place}/deeper", "file://{place}"])
def test_no_two_definitions_name_one_place(shell: Shell, lake: Path, other: str) -> None:
    place = lake.parent / "table"
    for name, location in (("one", place), ("two", other.format(place=place))):
        (lake / f"definitions/bronze/{name}.yaml").write_text(
            f"dataset: bronze.{name}\nowner: t\ndomain: d\nbuild: frame\n"
            f"location: {location}\ncolumns:\n  n: {{type: long}}\n"
        )
    result = shell("validate", "--project", lake)
    assert result.code == 2
    assert "definitions/bronze/two.yaml:5:" in result.err
    assert "LG-2033  the table of bronze.two at" in result.err
    assert "would overlap the table of bronze.one" in result.err


def test_plan_shows_and_changes_nothing(shell: Shell, lake: Path) -> None:
    first = shell("plan", "--project", lake)
    assert (
        first.out.splitlines()[0] == "  +   source    orders               csv, data/orders-*.csv"
    )
    assert first.out.endswith("5 steps\nNext: lakeguard apply\n")
    assert shell("plan", "--project", lake).out == first.out
    assert shell("status", "--project", lake, "--json").data == {"datasets": []}


def test_apply_then_nothing_to_do(shell: Shell, lake: Path) -> None:
    result = shell("apply", "--project", lake)
    assert "✓ applied  5 steps" in result.out
    assert result.out.endswith("Next: lakeguard run bronze.orders\n")
    again = shell("apply", "--project", lake)
    assert again.out.startswith("no changes")
    assert shell("apply", "--project", lake, "--json").data["applied"]["apply_id"] is None


def test_what_a_program_publishes_is_not_to_be_run(shell: Shell, lake: Path) -> None:
    edit(lake, "definitions/bronze/orders.yaml", "source: orders", "build: frame")
    following = 'Next: tx.publish("bronze.orders", frame)'
    assert shell("apply", "--project", lake).out.splitlines()[-1] == following
    assert shell("why", "bronze.orders", "--project", lake).out.splitlines()[-1] == following
    assert shell("run", "bronze.orders", "--project", lake).code == 2


def test_a_revision_shows_each_change(shell: Shell, applied: Path) -> None:
    edit(applied, SILVER, "owner: shop-team", "owner: new-team")
    lines = shell("plan", "--project", applied).out.splitlines()
    assert lines[0] == "  ~   dataset   silver.orders   1 change"
    assert lines[1] == "        ~ owner: shop-team → new-team"


def test_a_kept_plan_is_applied_exactly(shell: Shell, lake: Path, tmp_path: Path) -> None:
    kept = tmp_path / "plan.json"
    result = shell("plan", "--project", lake, "--out", kept)
    assert result.out.endswith(f"Next: lakeguard apply {kept}\n")
    edit(lake, SILVER, "owner: shop-team", "owner: new-team")
    assert shell("apply", kept, "--project", lake).code == 0
    page = shell("show", "silver.orders", "--project", lake, "--json").data
    assert page["status"]["dataset"]["owner"] == "shop-team"


def test_a_kept_plan_is_refused_once_the_registry_moved(
    shell: Shell, lake: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "plan.json"
    shell("plan", "--project", lake, "--out", kept)
    shell("apply", "--project", lake)
    result = shell("apply", kept, "--project", lake)
    assert result.code == 2
    assert result.err.startswith("LG-2100  the registry changed")


def test_a_plan_that_was_edited_is_refused(shell: Shell, lake: Path, tmp_path: Path) -> None:
    kept = tmp_path / "plan.json"
    shell("plan", "--project", lake, "--out", kept)
    kept.write_text(kept.read_text().replace('"enforcement":"BLOCK"', '"enforcement":"ALERT"'))
    result = shell("apply", kept, "--project", lake)
    assert result.code == 2
    assert result.err.startswith("LG-2101")


def test_what_is_not_a_plan_is_refused(shell: Shell, lake: Path, tmp_path: Path) -> None:
    for text in ("", "{}", json.dumps({"steps": [{"step": "drop_everything"}]})):
        (tmp_path / "plan.json").write_text(text)
        result = shell("apply", tmp_path / "plan.json", "--project", lake)
        assert result.code == 2
        assert result.err.startswith("LG-1000")
    assert shell("apply", tmp_path / "none.json", "--project", lake).code == 2


def test_status_of_what_never_ran(shell: Shell, applied: Path) -> None:
    data = shell("status", "--project", applied, "--json").data["datasets"]
    assert [item["health"] for item in data] == ["EMPTY"] * 3
    assert [item["dataset"]["dataset_name"] for item in data] == [
        "bronze.orders",
        "silver.orders",
        "gold.revenue_daily",
    ]


def test_reading_what_never_ran(shell: Shell, applied: Path) -> None:
    assert shell("runs", "--project", applied).out == "no runs yet\n"
    assert shell("runs", "--project", applied, "--json").data == NO_RUNS
    assert shell("versions", "bronze.orders", "--project", applied).out == "no versions yet\n"
    why = shell("why", "bronze.orders", "--project", applied)
    following = f"Next: lakeguard --project {applied} run bronze.orders"
    assert (why.code, why.out.splitlines()[-1]) == (0, following)


def test_show_has_the_definition_that_was_applied(shell: Shell, applied: Path) -> None:
    page = shell("show", "silver.orders", "--project", applied, "--json").data
    assert sorted(page) == [
        "definition", "facts", "lineage", "moves", "rules", "runs", "status", "target",
    ]  # fmt: skip
    assert page["definition"]["parents"] == ["bronze.orders"]
    assert page["definition"]["columns"][2]["tags"] == ["pii"]
    assert len(page["rules"]) == 8
    edit(applied, SILVER, "owner: shop-team", "owner: new-team")
    text = shell("show", "silver.orders", "--project", applied).out
    assert "shop-team" in text
    assert "new-team" not in text, "an edit that was not applied does not count"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "silver.nothing"),
        ("runs", "silver.nothing"),
        ("why", "silver.nothing"),
        ("show", "silver.nothing"),
        ("versions", "silver.nothing"),
        ("rollback", "silver.nothing", "--to", "v1", "--reason", "x"),
    ],
)
def test_a_name_that_is_not_registered(
    shell: Shell, applied: Path, arguments: tuple[str, ...]
) -> None:
    result = shell(*arguments, "--project", applied, "--json")
    assert result.code == 2
    assert result.data["error"]["code"] == "LG-1003"
    assert shell("runs", "--project", applied, "--json").data == NO_RUNS


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("replay", "run_unknown"), "LG-1005"),
        (("why", "run_unknown"), "LG-1005"),
        (("run", "Silver.Orders"), "LG-1003"),
        (("rollback", "bronze.orders", "--to", "first", "--reason", "x"), "LG-1002"),
        (("rollback", "bronze.orders", "--to", "v1", "--reason", "x"), "LG-1004"),
        (("rollback", "bronze.orders", "--to", "v1"), "LG-1000"),
        (("runs", "--limit", "0"), "LG-1000"),
        (("status", "--env", "nowhere"), "LG-1006"),
    ],
)
def test_wrong_calls(shell: Shell, applied: Path, arguments: tuple[str, ...], code: str) -> None:
    result = shell(*arguments, "--project", applied, "--json")
    assert (result.code, result.data["error"]["code"]) == (2, code)


def test_the_project_is_found_from_below(
    shell: Shell, applied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(applied / "definitions" / "silver")
    assert shell("status").code == 0
