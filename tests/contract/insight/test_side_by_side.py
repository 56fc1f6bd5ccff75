"""Two runs side by side, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus, Verdict
from lakeguard_sdk.errors import NotComparable, UnknownRun
from lakeguard_sdk.model.run_comparison import Subject
from tests.support.lakes.past_runs import (
    apply_rules,
    definitions_of,
    past_project,
    past_run,
    with_rules,
)
from tests.support.projects.terminal import Terminal

pytestmark = pytest.mark.usefixtures("each_state")


def test_rows_rules_and_checks_of_two_runs(tmp_path: Path) -> None:
    client = past_project(tmp_path, with_rules("range(n, max=10)", "row_count(min=1)"))
    first = past_run(client, [1, 2])
    apply_rules(client, with_rules("range(n, max=5)", "unique(n)"))
    second = past_run(client, [7, 8, 9])
    found = client.history.side_by_side(first.run_id, second.run_id)
    assert (found.before.verdict, found.before.version) == (Verdict.ALLOWED, 1)
    assert (found.after.verdict, found.after.status) == (Verdict.BLOCKED, RunStatus.BLOCKED)
    figures = {item.name: (item.before, item.after) for item in found.figures}
    assert figures["rows"] == ("2", "3")
    assert [item.before == item.after for item in found.figures] == sorted(
        item.before == item.after for item in found.figures
    ), "differences first"
    rules = {item.name: item for item in found.differences if item.subject is Subject.RULE}
    assert (rules["row_count"].after, rules["unique.n"].before) == (None, None)
    assert "max=10" in str(rules["range.n"].before)
    assert "max=5" in str(rules["range.n"].after)
    checks = {pair.check_id: pair for pair in found.checks}
    assert checks["range.n"].before is not None
    assert checks["range.n"].after is not None
    assert (checks["range.n"].before.failed_rows, checks["range.n"].after.failed_rows) == (0, 3)
    assert (checks["unique.n"].before, checks["row_count"].after) == (None, None)
    assert [pair.same for pair in found.checks] == sorted(pair.same for pair in found.checks)


def test_a_run_beside_itself_has_no_difference(tmp_path: Path) -> None:
    client = past_project(tmp_path, with_rules("range(n, max=10)"))
    run_id = past_run(client, [1, 2]).run_id
    found = client.history.side_by_side(run_id, run_id)
    assert found.differences == ()
    assert all(pair.same for pair in found.checks)
    assert all(item.before == item.after for item in found.figures)


def test_runs_of_two_datasets_and_runs_that_are_none(tmp_path: Path) -> None:
    dataset = with_rules("row_count(min=1)")
    client = past_project(tmp_path, dataset)
    other = dataset.model_copy(update={"dataset": DatasetName("bronze.others")})
    made = definitions_of(dataset)
    both = made.model_copy(update={"datasets": (dataset, other)})
    client.registry.apply(client.registry.plan(both))
    first = past_run(client, [1]).run_id
    second = past_run(client, [1], other.dataset).run_id
    with pytest.raises(NotComparable, match="compare runs of one dataset"):
        client.history.side_by_side(first, second)
    with pytest.raises(UnknownRun):
        client.history.side_by_side(first, "run_none")
    result = Terminal(tmp_path).type(f"lakeguard diff {first} {second}")
    assert (result.code, "LG-1222" in result.err) == (2, True)
    result = Terminal(tmp_path).type(f"lakeguard diff {dataset.dataset}@v1 {other.dataset}@v1")
    assert (result.code, "LG-1222" in result.err) == (2, True)


def test_the_command_shows_differences_first(tmp_path: Path) -> None:
    client = past_project(tmp_path, with_rules("range(n, max=10)"))
    runs = [past_run(client, numbers).run_id for numbers in ([1, 2], [3, 11, 12])]
    terminal = Terminal(tmp_path)
    result = terminal.type(f"lakeguard diff {' '.join(runs)}")
    assert result.code == 0
    for words in ("verdict", "ALLOWED", "BLOCKED", "range.n", "2 of 3 new rows"):
        assert words in result.out
    assert terminal.type(f"lakeguard diff {' '.join(runs)} --json").data["diff"]["checks"]
    assert terminal.type(f"lakeguard diff {runs[0]} nothing").code == 2
