"""``python -m tools.record_decisions``: decide every recorded case again and keep the rulings.

Each file of ``tests/unit/insight/recorded_decisions`` holds what a decision was made on and, as
text, the ruling. A new case is a file without a ruling.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from lakeguard.gate.decide import SEMANTICS
from lakeguard.insight.history.replay import Replayer
from lakeguard_sdk.model.decision import CaseHashes

FOLDER = Path(__file__).parents[1] / "tests" / "unit" / "insight" / "recorded_decisions"
_DOCUMENTS = ("facts", "evidence", "ruleset", "policies", "history")


def replay(recorded: dict[str, Any]) -> str:
    """The ruling that this version of the code comes to, as it is stored."""
    texts = {name: json.dumps(recorded[name]) for name in _DOCUMENTS if recorded[name] is not None}
    case = CaseHashes(**{"evidence": None, **{name: name for name in texts}})
    at = datetime.fromisoformat(recorded["decided_at"])
    return Replayer(texts.__getitem__).decide_again(case, at, SEMANTICS).to_json()


def record() -> list[str]:
    """Names of the files whose ruling changed."""
    changed = []
    for path in sorted(FOLDER.glob("*.json")):
        recorded = json.loads(path.read_text())
        ruling = replay(recorded)
        if recorded.get("ruling") != ruling:
            text = json.dumps({**recorded, "ruling": ruling}, indent=1, ensure_ascii=False)
            path.write_text(f"{text}\n")
            changed.append(path.name)
    return changed


if __name__ == "__main__":
    for name in record() or ["all recorded decisions come out the same"]:
        print(name)
