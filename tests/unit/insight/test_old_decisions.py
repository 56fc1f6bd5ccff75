"""Decisions of earlier semantics, recorded by the code of then, come out the same for ever."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lakeguard.gate.decide import SEMANTICS
from lakeguard.insight.replaying import Replayer
from lakeguard_sdk.decision import CaseHashes

FOLDER = Path(__file__).parent
RECORDED = [
    (semantics, item)
    for semantics in range(1, SEMANTICS)
    for item in json.loads((FOLDER / f"decisions_of_semantics_{semantics}.json").read_text())
]
NAMES = [f"{semantics} {item['name']}" for semantics, item in RECORDED]


@pytest.mark.parametrize(("semantics", "recorded"), RECORDED, ids=NAMES)
def test_a_decision_of_then_is_made_again_byte_for_byte(
    semantics: int, recorded: dict[str, Any]
) -> None:
    documents = {
        "facts": recorded["facts"],
        "evidence": recorded["evidence"],
        "ruleset": json.dumps(recorded["rules"]),
        "policies": json.dumps(recorded["policies"]),
        "history": recorded["history"],
    }
    named = {name: name for name, text in documents.items() if text is not None}
    case = CaseHashes(**{"evidence": None, **named})
    at = datetime.fromisoformat(recorded["decided_at"])
    again = Replayer(documents.__getitem__).decide_again(case, at, semantics)
    assert again.to_json() == recorded["ruling"]
