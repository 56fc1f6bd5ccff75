"""``lakeguard backtest`` over real runs: what it says first, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.lakes.past_runs import past_project, past_run, with_rules
from tests.support.projects.shell import Shell

DRAFT = """\
dataset: bronze.numbers
owner: tests
domain: test
source: numbers
load: {type: APPEND}
columns:
  n: {type: long}
rules:
"""
NEVER_ASKED = 4
BLOCKED = 3


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    (folder / "definitions").mkdir()
    client = past_project(folder, with_rules("row_count(min=1)"))
    past_run(client, [1, 2])
    past_run(client, [3])
    return folder


def draft(folder: Path, *rules: str, name: str = "bronze.numbers") -> Path:
    file = folder.parent / f"{name}.yaml"
    text = DRAFT.replace("bronze.numbers", name)
    file.write_text(text + "".join(f"  - {rule}\n" for rule in rules))
    return file


def test_a_rule_that_no_run_was_asked_does_not_pass_a_check(shell: Shell, project: Path) -> None:
    file = draft(project, "row_count(min=1)", "range(n, max=9)")
    result = shell("backtest", file, "--check", "--project", project)
    assert result.code == NEVER_ASKED
    head = result.out.splitlines()[0]
    assert "would have newly blocked 0 of 2 runs" in head
    assert head.endswith("; 1 of 2 rules has no recorded data")
    assert "no recorded data: range.n of bronze.numbers" in result.err
    assert "Next: lakeguard backtest FILE --check --scan" in result.err
    assert shell("backtest", file, "--project", project).code == 0
    scanned = shell("backtest", file, "--check", "--scan", "--project", project, "--json")
    assert (scanned.code, scanned.data["backtests"][0]["unasked"]) == (0, [])


def test_a_run_that_is_blocked_counts_more_than_a_rule_not_asked(
    shell: Shell, project: Path
) -> None:
    file = draft(project, "row_count(min=2)", "range(n, max=9)")
    assert shell("backtest", file, "--check", "--project", project).code == BLOCKED


def test_a_new_dataset_ends_nothing(shell: Shell, project: Path) -> None:
    text = "---\n".join(
        draft(project, "row_count(min=1)", name=name).read_text()
        for name in ("bronze.aaa", "bronze.numbers")
    )
    file = project.parent / "both.yaml"
    file.write_text(text)
    result = shell("backtest", file, "--check", "--project", project)
    assert (result.code, result.out.splitlines()[0]) == (0, "bronze.aaa   new: no runs")
    assert "bronze.numbers   would have newly blocked 0 of" in result.out
    data = shell("backtest", file, "--json", "--project", project).data["backtests"]
    assert [test["new"] for test in data] == [True, False]


def test_all_replays_say_whether_they_are_identical(shell: Shell, project: Path) -> None:
    result = shell("replay", "--all", "--json", "--project", project)
    assert result.data["replays"]["identical"] is True


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("row_count(min=1)", "would have newly blocked 0 of 1 run"),
        ("row_count(min=5)", "would have newly blocked 1 of 1 run"),
    ],
)
def test_one_run_is_one(shell: Shell, tmp_path: Path, rule: str, expected: str) -> None:
    folder = tmp_path / "lake"
    (folder / "definitions").mkdir(parents=True)
    past_run(past_project(folder, with_rules("row_count(min=1)")), [1, 2])
    result = shell("backtest", draft(folder, rule), "--project", folder)
    assert expected in result.out.splitlines()[0], result
