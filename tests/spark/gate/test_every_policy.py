"""Every policy type on real runs: satisfied, alerting, and blocking as early as possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.gate.policies import parse_policy
from lakeguard.gate.policy_types.catalog import POLICY_KINDS
from lakeguard.gate.policy_types.parents import InputsKnown
from lakeguard.gate.policy_types.policy_form import Needs, PolicyForm
from lakeguard.gate.policy_types.quarantine import QuarantineAge, QuarantineSize
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    Outcome,
    PolicyType,
    RunStatus,
)
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.run import RunResult
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.policy_datasets import (
    BRONZE,
    FILES,
    PROMISES,
    Notes,
    over,
    policy_outcomes,
)
from tests.support.projects.folders import apply_again, published
from tests.support.projects.planes import Clock

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
A_DAY_AND_MORE = 31 * 3600
UNBREAKABLE = {"owned"}
BROKEN = set(PROMISES) - UNBREAKABLE
OF_QUARANTINED_ROWS = {QuarantineSize, QuarantineAge}
"""Tested in tests/contract/quarantine/test_quarantine.py: these files have no quarantined rows."""

OF_FRAMES = {InputsKnown}
"""Tested in tests/contract/privacy/test_batch_lineage.py: sources and SQL have no other inputs."""


def form(name: str) -> PolicyForm:
    return parse_policy(PROMISES[name].type, PROMISES[name].broken)


def needing(needs: Needs) -> set[str]:
    return {name for name in BROKEN if form(name).needs is needs}


DELETING = {name for name in BROKEN if form(name).discards}


def test_every_type_and_every_form_of_policy_has_a_case() -> None:
    described = [promise.type for promise in PROMISES.values()]
    forms = {kind.type: len(kind.forms) for kind in POLICY_KINDS.values()}
    forms[PolicyType.QUARANTINE_BUDGET] -= len(OF_QUARANTINED_ROWS)
    forms[PolicyType.LINEAGE_PARENT] -= len(OF_FRAMES)
    assert {type: described.count(type) for type in PolicyType} == forms
    held = {type(form(name)) for name in BROKEN} | OF_QUARANTINED_ROWS | OF_FRAMES
    assert held == set(PolicyForm.__subclasses__())
    assert all(map(needing, Needs))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Frozen at a Thursday."""
    made = Clock()
    monkeypatch.setattr("lakeguard.plane._clock", lambda _: made)
    return made


@pytest.fixture
def notes(tmp_path: Path, clock: Clock) -> Notes:
    """One version of each dataset without policies, and a new file to read."""
    made = Notes(tmp_path)
    made.land()
    for layer in (Layer.BRONZE, Layer.SILVER):
        assert made.run(layer).version == 1
    made.land()
    return made


def test_what_keeps_every_policy_is_published(notes: Notes) -> None:
    notes.promise((), Enforcement.BLOCK)
    for layer in (Layer.BRONZE, Layer.SILVER):
        result = notes.run(layer)
        assert policy_outcomes(result) == dict.fromkeys(over(layer, ()), Outcome.PASS)
        assert result.version == 2


def test_alerts_are_told_and_let_the_run_go_on(notes: Notes, clock: Clock) -> None:
    notes.promise(BROKEN, Enforcement.ALERT)
    for layer in (Layer.BRONZE, Layer.SILVER):
        clock.pass_time(A_DAY_AND_MORE)
        with meanwhile("measure.taken", lambda: clock.pass_time(61)):
            result = notes.run(layer)
        found = policy_outcomes(result)
        warned = over(layer, BROKEN) - UNBREAKABLE
        assert {name for name, outcome in found.items() if outcome is Outcome.WARN} == warned
        assert set(found) - warned == over(layer, BROKEN) & UNBREAKABLE
        assert result.version == 2


def refused(notes: Notes, clock: Clock, layer: Layer, broken: set[str]) -> RunResult:
    """A run that exactly the broken policies of its layer block."""
    with meanwhile("measure.taken", lambda: clock.pass_time(61)):
        result = notes.run(layer)
    assert result.status is RunStatus.BLOCKED, result.error or policy_outcomes(result)
    failed = {name for name, outcome in policy_outcomes(result).items() if outcome is Outcome.FAIL}
    assert failed == broken & over(layer, broken)
    assert result.decision is not None
    named = {reason.partition(":")[0] for reason in result.decision.ruling.reasons}
    assert {name for name in named if not name.startswith("schema.")} == failed
    assert notes.versions(layer) == [1]
    assert notes.client.reader.replay(result.run_id).identical
    return result


def test_what_needs_no_data_blocks_before_anything_is_staged(notes: Notes, clock: Clock) -> None:
    broken = needing(Needs.METADATA)
    notes.promise(broken, Enforcement.BLOCK)
    clock.pass_time(A_DAY_AND_MORE)
    for layer in (Layer.BRONZE, Layer.SILVER):
        result = refused(notes, clock, layer, broken)
        assert notes.staged(result) == []
        assert not list(notes.folder.rglob(f"*{result.run_id}*")), "nothing was even read"
        kept = {
            name: outcome for name, outcome in policy_outcomes(result).items() if name not in broken
        }
        assert set(kept.values()) <= {Outcome.PASS, Outcome.NOT_EVALUATED}


def test_what_needs_the_columns_blocks_before_anything_is_staged(
    notes: Notes, clock: Clock
) -> None:
    broken = needing(Needs.SCHEMA)
    notes.promise(broken, Enforcement.BLOCK)
    assert notes.staged(refused(notes, clock, Layer.BRONZE, broken)) == []


def test_what_needs_the_data_blocks_what_is_staged(notes: Notes, clock: Clock) -> None:
    broken = needing(Needs.EVIDENCE) - DELETING
    notes.promise(broken, Enforcement.BLOCK)
    result = refused(notes, clock, Layer.BRONZE, broken)
    assert notes.staged(result), "kept for inspection"
    kept = {outcome for name, outcome in policy_outcomes(result).items() if name not in broken}
    assert kept == {Outcome.PASS}


def test_what_may_not_be_kept_is_deleted(notes: Notes, clock: Clock) -> None:
    notes.promise(DELETING, Enforcement.BLOCK)
    result = refused(notes, clock, Layer.BRONZE, DELETING)
    assert notes.staged(result) == []


def test_a_batch_that_was_quarantined_whole_is_judged(notes: Notes, clock: Clock) -> None:
    assert notes.run(Layer.BRONZE).version == 2
    notes.land(good=False)
    budgets = {name for name in BROKEN if PROMISES[name].type is PolicyType.QUARANTINE_BUDGET}
    notes.promise(budgets, Enforcement.BLOCK)
    result = notes.run(Layer.BRONZE)
    assert result.status is RunStatus.BLOCKED, result
    assert {
        name for name, each in policy_outcomes(result).items() if each is Outcome.FAIL
    } == budgets
    notes.promise(budgets, Enforcement.ALERT)
    assert notes.run(Layer.BRONZE).version == 3
    again = notes.run(Layer.BRONZE)
    assert (again.status, again.version) == (RunStatus.SUCCESS, None), "the file was read"
    assert published(notes.client, BRONZE, "id") == [1, 2]


def test_a_dataset_without_an_owner_is_refused_before_a_policy_can(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    file = "definitions/bronze/notes.yaml"
    (tmp_path / file).write_text(str(FILES[file]).replace("owner: tests\n", ""))
    with pytest.raises(InvalidDefinitions) as caught:
        apply_again(notes.client, tmp_path)
    assert ["owner" in str(error) for error in caught.value.errors] == [True]
