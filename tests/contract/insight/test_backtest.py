"""Back-tests: a draft of rules against runs of the past, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.client import remeasure
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer, PolicyType, Verdict
from lakeguard_sdk.model.definitions import ColumnDefinition
from lakeguard_sdk.model.history import Backtest
from tests.support.lakes.past_runs import (
    apply_rules,
    past_project,
    past_run,
    with_rules,
)
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    built,
    numbers,
    promise,
    revise,
    world,
)
from tests.support.projects.definitions import rule
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
HIGH = "range(n, max=10)"


def backtest(client: Client, *texts: str, scan: bool = False) -> Backtest:
    return client.history.backtest(
        with_rules(*texts), LONG_AGO, remeasure=remeasure if scan else None
    )


def project(folder: Path, *texts: str) -> Client:
    return past_project(folder, with_rules(*texts))


def test_a_stricter_draft_names_the_runs_that_it_would_have_blocked(tmp_path: Path) -> None:
    client = project(tmp_path, "range(n, max=10) fail_if > 2")
    past_run(client, [1, 2, 3])
    spoiled = past_run(client, [4, 11, 5])
    test = backtest(client, HIGH)
    assert (test.runs, test.unchanged, test.lets_through, test.spoils) == (2, 1, (), True)
    (run,) = test.blocks
    assert (run.run_id, run.version) == (spoiled.run_id, 2)
    (finding,) = run.findings
    assert (finding.rule_id, finding.failed_rows, finding.scope_rows) == ("range.n", 1, 3)
    (rule,) = test.rules
    assert (rule.failed, rule.judged, rule.share, rule.unmeasured) == (1, 2, 0.5, 0)
    assert (rule.first, rule.last) == (spoiled.run_id, spoiled.run_id)
    assert test.added == ("range.n",)


def test_a_milder_draft_names_what_it_would_have_let_through(tmp_path: Path) -> None:
    client = project(tmp_path, HIGH)
    blocked = past_run(client, [1, 11])
    assert not blocked.allowed
    test = backtest(client, "range(n, max=10) fail_if > 2")
    (run,) = test.lets_through
    assert (run.run_id, run.version, run.lifted) == (blocked.run_id, None, ("range.n",))
    assert not test.spoils


def test_a_version_that_was_rolled_back_is_caught_or_missed(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=1)")
    past_run(client, [1])
    bad = past_run(client, [99])
    client.operations.rollback(NUMBERS, 1, "99 is wrong")
    missed = backtest(client, "row_count(min=1)")
    assert [run.run_id for run in missed.misses] == [bad.run_id]
    assert not missed.spoils
    caught = backtest(client, HIGH, scan=True)
    (run,) = caught.blocks
    assert run.rolled_back
    assert not caught.spoils, "what was rolled back was not fine"


def test_the_rollback_itself_is_no_run_to_test(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=1)")
    past_run(client, [1])
    past_run(client, [2])
    client.operations.rollback(NUMBERS, 1, "back")
    assert backtest(client, "row_count(min=1)").runs == 2


def test_what_was_not_measured_is_said_and_not_guessed(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=2)")
    past_run(client, [1, 2])
    blocked = past_run(client, [99])
    test = backtest(client, "row_count(min=2)", HIGH)
    known, unknown = test.rules
    assert (known.judged, unknown.judged, unknown.unmeasured) == (2, 0, 2)
    assert unknown.reasons == ("not measured",)
    assert test.blocks == ()
    apply_rules(client, with_rules("row_count(min=2)", HIGH))
    past_run(client, [3, 4])
    scanned = backtest(client, "row_count(min=2)", "range(n, max=1)", scan=True)
    tight = scanned.rules[1]
    assert (tight.judged, tight.failed, tight.unmeasured) == (2, 2, 1)
    assert tight.reasons == ("the run published no version",)
    assert blocked.run_id not in [run.run_id for run in scanned.blocks]


def test_a_scan_that_finds_no_files_says_so(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=1)")
    past_run(client, [1, 2])
    for file in (tmp_path / "bronze").rglob("*.parquet"):
        file.unlink()
    (rule,) = backtest(client, HIGH, scan=True).rules
    assert rule.judged == 0
    assert rule.reasons[0].startswith("bronze.numbers@v1 can no longer be read: 1 of its 1 files")


def test_a_draft_that_looks_back_sees_the_versions_of_then(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=1)")
    for rows in (4, 5, 20, 18):
        past_run(client, list(range(rows)))
    test = backtest(client, "row_count(change=50%)")
    (run,) = test.blocks
    assert (run.version, run.findings[0].message) == (
        3,
        "20 new rows, limit 2.5 to 7.5 (last value 5 and 50 % of it)",
    )


def test_a_rule_that_would_quarantine_rows_does_not_block(tmp_path: Path) -> None:
    client = project(tmp_path, HIGH)
    past_run(client, [1, 11, 12])
    test = backtest(client, "range(n, max=10) on_fail quarantine")
    (run,) = test.lets_through
    (rule,) = test.rules
    assert (run.drafted, rule.failed, rule.warned) == (Verdict.ALLOWED, 0, 1)
    strict = backtest(client, "range(n, max=10) fail_if > 1 on_fail quarantine")
    assert (strict.lets_through, strict.rules[0].failed) == ((), 1)


def plain(found: Backtest) -> str:
    """As JSON, numbers without separators."""
    return found.to_json().replace(",", "")


def test_no_value_of_a_tagged_column_is_told(tmp_path: Path) -> None:
    """Also where the tag came after the run: what was measured then is not told now."""
    client = project(tmp_path, "max(n, max=1000000)", "range(n, max=1000000)")
    past_run(client, [1, 777_777])
    draft = with_rules("max(n, max=5)", "range(n, max=5)", tags=("pii",))
    test = client.history.backtest(draft, LONG_AGO, remeasure=remeasure)
    (run,) = test.blocks
    assert sorted(finding.message for finding in run.findings) == [
        "1 of 2 rows",
        "does not hold; details are hidden because the rule uses a hidden column",
    ]
    assert "777777" not in plain(test)


def test_no_value_is_told_of_a_column_that_has_its_tag_from_above(tmp_path: Path) -> None:
    """Neither where the tag came later, nor where only a policy is about the column."""
    silver = built("SELECT n FROM bronze.numbers").model_copy(
        update={"rules": (rule("max(n, max=1000000)"),)}
    )
    client = world(tmp_path, numbers(), silver)
    past_run(client, [777_777])
    past_run(client, [777_777], DOUBLED)
    draft = silver.model_copy(update={"rules": (rule("max(n, max=5)"),)})
    assert "777777" in plain(client.history.backtest(draft, LONG_AGO)), "while there is no tag"
    tagged = ColumnDefinition(name="n", type="long", tags=("salary",))
    revise(client, numbers(columns=(tagged,)), silver)
    assert "777777" not in plain(client.history.backtest(draft, LONG_AGO))
    revise(client, numbers(), silver)
    policy = promise(PolicyType.PII, "forbid columns [n]", applies_to_layer=Layer.GOLD)
    revise(client, numbers(), silver, policies=(policy,))
    assert "777777" not in plain(client.history.backtest(draft, LONG_AGO))


def test_a_dataset_that_is_new_has_no_runs(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=1)")
    past_run(client, [1])
    draft = with_rules(HIGH)
    other = DatasetName("bronze.newer")
    new = client.history.backtest(draft.model_copy(update={"dataset": other}), LONG_AGO)
    assert (new.dataset, new.new, new.runs, new.added) == (other, True, 0, ("range.n",))
    renamed = draft.model_copy(update={"dataset": other, "renamed_from": NUMBERS})
    assert client.history.backtest(renamed, LONG_AGO).runs == 1


def test_rules_that_were_asked_of_nothing_are_named(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=1)")
    past_run(client, [1])
    test = backtest(client, "row_count(min=1)", HIGH)
    assert (test.spoils, test.unasked, test.to_scan) == (False, ("range.n",), ("range.n",))
    scanned = backtest(client, "row_count(min=1)", HIGH, scan=True)
    assert (scanned.unasked, scanned.to_scan) == ((), ())
    apply_rules(client, with_rules("row_count(min=1)", HIGH))
    registered = backtest(client, "row_count(min=1)", HIGH)
    assert (registered.unasked, registered.to_scan) == (("range.n",), ()), "it is in force already"


def test_only_runs_since_the_time_count(tmp_path: Path) -> None:
    client = project(tmp_path, "row_count(min=1)")
    past_run(client, [1])
    soon = datetime.now(UTC) + timedelta(minutes=1)
    test = client.history.backtest(with_rules("row_count(min=9)"), soon)
    assert (test.runs, test.reported) == (0, ())


def test_what_was_waived_then_is_waived_and_no_other_rule(tmp_path: Path) -> None:
    client = project(tmp_path, HIGH)
    until = datetime.now(UTC) + timedelta(days=1)
    client.operations.waive(NUMBERS, "range.n", approver="ann", reason="known", until=until)
    assert past_run(client, [11]).allowed
    test = backtest(client, HIGH, "row_count(max=9)")
    assert (test.blocks, test.rules[0].warned) == ((), 1)
    assert len(backtest(client, "range(n, max=5)", scan=True).blocks) == 1
