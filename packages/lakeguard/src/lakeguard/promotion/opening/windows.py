"""Back-fill windows and watermarks."""

from __future__ import annotations

import json

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.versions import Pointer
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.definitions import FromFrame
from lakeguard_sdk.model.evidence import VersionPosition
from lakeguard_sdk.model.run import Build, SourceBuild, Window
from lakeguard_sdk.model.windows import watermark_subject, window_problem


def window_parameters(window: Window | None) -> str:
    """A window as task parameters."""
    return "{}" if window is None else json.dumps({"window": window.to_data()})


def task_window(task: Task) -> Window | None:
    window = json.loads(task.parameters).get("window")
    return None if window is None else Window(**window)


def check_window(
    dataset: RegisteredDataset,
    window: Window | None,
    published: Pointer | None,
    findings: Findings,
) -> None:
    """Refuse a window that does not fit the table, or a back-fill without a published version."""
    if window is None:
        return
    problem = window_problem(window, dataset.definition.declared)
    if problem is None and published is None:
        problem = f"{dataset.name} has no version yet; first: lakeguard run {dataset.name}"
    if problem is None and isinstance(dataset.definition.build, FromFrame):
        problem = f"{dataset.name} is published by a program, which alone can build it again"
    if problem is not None:
        findings.refuse("window", problem)


# The watermark of the published version, if its column is unchanged.


def known_watermark(
    dataset: RegisteredDataset,
    build: Build | None,
    position: VersionPosition | None,
    published: Pointer | None,
    findings: Findings,
) -> str | None:
    """The watermark to continue from. An APPEND without one is refused, to avoid duplicates."""
    load = dataset.definition.load
    if build is None or not load.watermark:
        return None
    subject = watermark_subject(build, load.watermark)
    if position is not None and position.watermark_of == subject:
        return position.watermark
    by_files = isinstance(build, SourceBuild) and build.format is not SourceFormat.JDBC
    if published is not None and load.type is LoadType.APPEND and not load.keys and not by_files:
        findings.refuse(
            "watermark",
            f"v{published.version} does not say how far {load.watermark} was read, so that it is"
            " not known which rows are new; set load type FULL for the next run",
        )
    return None
