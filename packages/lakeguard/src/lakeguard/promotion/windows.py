"""The window of a back-fill: which rows of a table one task builds again."""

from __future__ import annotations

import json

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.versions import Pointer
from lakeguard.promotion.eligibility import Findings
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.definition import FromFrame
from lakeguard_sdk.run import Window
from lakeguard_sdk.windows import window_problem


def window_parameters(window: Window | None) -> str:
    """What a task keeps of its window."""
    return "{}" if window is None else json.dumps({"window": window.to_data()})


def task_window(task: Task) -> Window | None:
    kept = json.loads(task.parameters).get("window")
    return None if kept is None else Window(**kept)


def check_window(
    dataset: RegisteredDataset,
    window: Window | None,
    published: Pointer | None,
    findings: Findings,
) -> None:
    """Refuse a window that the table cannot have, or that has nothing to be filled back into."""
    if window is None:
        return
    problem = window_problem(window, dataset.definition.declared)
    if problem is None and published is None:
        problem = f"{dataset.name} has no version yet; first: lakeguard run {dataset.name}"
    if problem is None and isinstance(dataset.definition.build, FromFrame):
        problem = f"{dataset.name} is published by a program, which alone can build it again"
    if problem is not None:
        findings.refuse("window", problem)
