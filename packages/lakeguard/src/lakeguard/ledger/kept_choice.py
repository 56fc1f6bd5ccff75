"""Which of the rows that wait somebody means."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.ledger.kept_rows import Holding
from lakeguard_sdk.errors import NothingWaits
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.quarantine import KeptChoice


def chosen_of(
    dataset: DatasetName, waiting: Sequence[Holding], choice: KeptChoice
) -> tuple[Holding, ...]:
    """``NothingWaits`` where a run or a rule is named under which no chosen row waits."""
    chosen = tuple(item for item in waiting if choice.takes(item.run_id, item.rule_id))
    if not chosen:
        missing = _words(choice.runs, choice.rules)
    else:
        runs, rules = {item.run_id for item in chosen}, {item.rule_id for item in chosen}
        missing = _words(
            [run for run in choice.runs if run not in runs],
            [rule for rule in choice.rules if rule not in rules],
        )
    if missing:
        raise NothingWaits(dataset=dataset, choice=f" {missing}")
    return chosen


def _words(runs: Sequence[str], rules: Sequence[str]) -> str:
    said = [f"of run {run}" for run in runs] + [f"under {rule}" for rule in rules]
    return ", ".join(said)
