"""Decisions of the first semantics, recorded by the code of then, come out the same for ever."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lakeguard.insight.replaying import Replayer
from lakeguard_sdk.decision import CaseHashes

RECORDED = json.loads((Path(__file__).parent / "decisions_of_semantics_1.json").read_text())


@pytest.mark.parametrize("recorded", RECORDED, ids=[item["name"] for item in RECORDED])
def test_a_decision_of_then_is_made_again_byte_for_byte(recorded: dict[str, Any]) -> None:
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
    assert Replayer(documents.__getitem__).decide_again(case, at, 1).to_json() == recorded["ruling"]
