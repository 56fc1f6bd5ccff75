"""Those who work on a table in the model, reduced to what they hold."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard_sdk.model.run import Intent, RunPlan
from lakeguard_sdk.model.table_operations import CompactionPlan

STEPS = ("open", "decide", "intent", "commit", "complete")


@dataclass
class Publisher:
    """A data plane, reduced to what it holds."""

    plan: RunPlan | None = None
    decided: bool = False
    intent: Intent | None = None
    commit: int | None = None

    @property
    def next_step(self) -> str:
        held = (self.plan, self.decided or None, self.intent, self.commit)
        return STEPS[next((index for index, item in enumerate(held) if item is None), 4)]


@dataclass
class Compactor:
    """A data plane that merges files, reduced to what it holds."""

    plan: CompactionPlan | None = None
    intent: Intent | None = None
    commit: int | None = None

    @property
    def next_step(self) -> str:
        held = (self.plan, self.intent, self.commit)
        steps = ("compact open", "compact intent", "commit", "complete")
        return steps[next((index for index, item in enumerate(held) if item is None), 3)]
