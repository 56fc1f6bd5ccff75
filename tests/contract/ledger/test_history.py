"""Rules that look back see what was measured of the versions that led here, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType, Outcome
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")
CHANGE = "row_count(change=50%)"
BAND = "row_count(band='mad', least=3, min=1)"


def project(folder: Path, *texts: str) -> Client:
    definitions = numbers_definitions(LoadType.APPEND)
    rules = tuple(
        define_rule(parse_rule(text), rule_id=f"r{at}", severity=None)
        for at, text in enumerate(texts)
    )
    (dataset,) = definitions.datasets
    governed = dataset.model_copy(update={"rules": rules})
    return make_project(folder, definitions.model_copy(update={"datasets": (governed,)}))


def decided(client: Client, rows: int) -> Decision:
    """What the gate says to so many rows; nothing is published."""
    task_id = client.operations.submit(NUMBERS, "by hand")
    plan = client.runs.open_run(task_id, this_process("by hand"))
    assert not isinstance(plan, RunResult)
    client.runs.submit_schema(plan.ticket, plan.declared)
    return client.runs.submit_evidence(
        plan.ticket, evidence_of(DeltaLake(), plan, list(range(rows)))
    )


def check(decision: Decision, rule_id: str = "r0") -> CheckResult:
    (found,) = [each for each in decision.ruling.checks if each.check_id == rule_id]
    return found


def test_the_first_version_has_nothing_to_be_held_against(tmp_path: Path) -> None:
    client = project(tmp_path, CHANGE, BAND)
    decision = decided(client, 5)
    assert check(decision).message == "5 new rows (no earlier version to compare with)"
    assert check(decision, "r1").message == (
        "5 new rows, limit at least 1 (0 of 3 earlier values needed for a band)"
    )
    assert decision.allowed


def test_the_last_published_version_is_what_a_change_is_held_against(tmp_path: Path) -> None:
    client = project(tmp_path, CHANGE)
    run_by_hand(client, [1, 2, 3, 4])
    blocked = decided(client, 7)
    assert check(blocked).outcome is Outcome.FAIL
    assert check(blocked).message == "7 new rows, limit 2 to 6 (last value 4 and 50 % of it)"
    again = decided(client, 6)
    assert check(again).outcome is Outcome.PASS, "what was blocked is not part of history"


def test_what_a_rollback_left_behind_is_forgotten(tmp_path: Path) -> None:
    client = project(tmp_path, CHANGE)
    run_by_hand(client, [1, 2, 3, 4])
    run_by_hand(client, [1, 2])
    client.operations.rollback(NUMBERS, 1, "back")
    assert check(decided(client, 6)).outcome is Outcome.PASS


def test_a_band_learns_from_what_was_published(tmp_path: Path) -> None:
    client = project(tmp_path, BAND)
    for rows in (10, 12, 11):
        run_by_hand(client, list(range(rows)))
    found = check(decided(client, 40))
    assert found.outcome is Outcome.FAIL
    assert found.message == (
        "40 new rows, limit 6.5522 to 15.4478 (median of 3 earlier values and 3 spreads)"
    )


def test_a_decision_that_looked_back_replays(tmp_path: Path) -> None:
    client = project(tmp_path, CHANGE, BAND)
    for rows in (10, 12, 11):
        run_by_hand(client, list(range(rows)))
    decision = decided(client, 40)
    run_id = decision.run_id
    assert client.reader.replay(run_id).identical
