"""Every rule type and catalogue rule on real runs: passing, failing and warning."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.registry.macros import built_in_rules
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.run import RunResult
from tests.support.cases.macros import MACROS
from tests.support.cases.rule_clauses import CLAUSES
from tests.support.cases.rules import REFUSED, RULES
from tests.support.cases.rules_and_rows import BAD_ROWS, NAME, Checked
from tests.support.projects.folders import published

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
BROKEN_BY_WORDS = {name for name, case in RULES.items() if case.broken} - set(REFUSED)
Outcomes = dict[str, tuple[Outcome, int | None]]


def test_every_type_of_rule_has_a_case() -> None:
    assert set(RULES) == {found.name for found in RULE_TYPES}


def test_every_rule_of_the_catalogue_has_a_case() -> None:
    assert set(MACROS) == set(built_in_rules())


EVERY = {**RULES, **CLAUSES, **MACROS}
WITH = {"duckdb": EVERY, "spark": {**RULES, **CLAUSES}}
"""The catalogue consists of the types, which both engines measure."""


@pytest.fixture(params=WITH)
def checked(request: pytest.FixtureRequest, tmp_path: Path) -> Checked:
    """All rules on one dataset with two good versions."""
    made = Checked(tmp_path, WITH[request.param], measure_with="duckdb")
    for version in (1, 2):
        made.land(good=True)
        result = made.run()
        assert {outcome for outcome, _ in described(result).values()} == {Outcome.PASS}, described(
            result
        )
        assert result.version == version
        made.say(measure_with=request.param)
    return made


def described(result: RunResult) -> Outcomes:
    """Outcome of each rule by id."""
    assert result.decision is not None, result.error
    rules = [each for each in result.decision.ruling.checks if each.kind is CheckKind.RULE]
    return {each.check_id: (each.outcome, each.failed_rows) for each in rules}


def expected(checked: Checked, outcome: Outcome) -> Outcomes:
    """Outcome of each rule if all fail, except those that no run can break."""
    found: Outcomes = dict.fromkeys(REFUSED, (Outcome.PASS, None))
    for name, case in checked.cases.items():
        several = len(case.failed) > 1
        for at, rows in enumerate(case.failed, start=1):
            found[f"{name}.{at}" if several else name] = (outcome, rows)
    return found


def recorded(checked: Checked, result: RunResult) -> Outcomes:
    """Rule outcomes of the run in the lake's ledger."""
    checked.client.ledger.sync()
    place = checked.folder / "_lakeguard" / "default" / "data_quality_results"
    rows = DeltaTable(str(place)).to_pyarrow_table().to_pylist()
    return {
        row["rule_id"].removeprefix(f"{NAME}."): (Outcome(row["result"]), row["failed_rows"])
        for row in rows
        if row["run_id"] == result.run_id
    }


def test_rows_that_break_all_rules_are_blocked_by_each(checked: Checked) -> None:
    before = published(checked.client, NAME, "order_id")
    checked.say(*BROKEN_BY_WORDS)
    checked.land(good=False)
    blocked = checked.run()
    assert blocked.status is RunStatus.BLOCKED, blocked.error
    assert described(blocked) == expected(checked, Outcome.FAIL)
    assert recorded(checked, blocked) == described(blocked)
    assert blocked.decision is not None
    reasons = {reason.partition(":")[0] for reason in blocked.decision.ruling.reasons}
    assert reasons == set(described(blocked)) - set(REFUSED)
    assert [row.version for row in checked.client.reader.versions(NAME)] == [2, 1]
    assert published(checked.client, NAME, "order_id") == before
    assert checked.client.reader.replay(blocked.run_id).identical


def test_rules_that_only_warn_let_the_same_rows_in(tmp_path: Path) -> None:
    checked = Checked(tmp_path, RULES)
    checked.land(good=True)
    assert checked.run().version == 1
    checked.say(*BROKEN_BY_WORDS, severity="WARN")
    checked.land(good=False)
    warned = checked.run()
    assert warned.version == 2, warned.error or described(warned)
    assert described(warned) == expected(checked, Outcome.WARN)
    assert len(published(checked.client, NAME, "order_id")) == BAD_ROWS


@pytest.mark.parametrize("name", REFUSED)
def test_a_definition_that_breaks_its_own_rule_is_refused(tmp_path: Path, name: str) -> None:
    checked = Checked(tmp_path, RULES)
    with pytest.raises(InvalidDefinitions) as caught:
        checked.say(name)
    assert ["nowhere" in str(error) for error in caught.value.errors] == [True]
    assert {row.rule_id for row in checked.client.reader.rules(NAME)} == set(RULES)
