"""Recorded decisions come out the same, byte for byte; ``make decisions`` records them anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeguard.gate.decide import SEMANTICS
from lakeguard.insight.history.replay import Replayer
from lakeguard_sdk.core.enums import Outcome, Verdict
from lakeguard_sdk.errors import SemanticsUnknown
from lakeguard_sdk.model.decision import CaseHashes
from tests.unit.gate.cases import CLOCK
from tools.record_decisions import FOLDER, replay

FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recorded_decision_replays_byte_for_byte(file: Path) -> None:
    recorded = json.loads(file.read_text())
    assert replay(recorded) == recorded["ruling"]


def test_the_recorded_decisions_show_every_verdict_and_outcome() -> None:
    rulings = [json.loads(json.loads(file.read_text())["ruling"]) for file in FILES]
    assert {ruling["semantics"] for ruling in rulings} == {SEMANTICS}
    assert {ruling["verdict"] for ruling in rulings} == set(Verdict)
    assert {check["outcome"] for ruling in rulings for check in ruling["checks"]} == set(Outcome)


@pytest.mark.parametrize("semantics", [0, SEMANTICS + 1])
def test_unknown_semantics_are_refused(semantics: int) -> None:
    case = CaseHashes(facts="f", evidence=None, ruleset="r", policies="p", history="h")
    with pytest.raises(SemanticsUnknown):
        Replayer({}.__getitem__).decide_again(case, CLOCK, semantics)
