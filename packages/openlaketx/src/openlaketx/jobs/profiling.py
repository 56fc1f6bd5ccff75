"""Profiles after a publish: off the way of the data, and never a reason for a run to fail."""

from __future__ import annotations

import logging

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.run import RunPlan
from openlaketx.profile import profile_version

_LOG = logging.getLogger("openlaketx")


def profile_if_due(plan: RunPlan, client: WorkerClient, progress: Progress | None = None) -> None:
    """Take the profile that the dataset's definition asks for now, if it asks for one.

    A failure is told once, or logged where nobody listens; it changes no result: the version stands
    as it is.
    """
    try:
        due = client.runs.due_profile(plan.ticket)
        if due is None:
            return
        if progress:
            progress("profile", {})
        taken = profile_version(due.dataset, masked=due.masked)
        client.runs.submit_profile(plan.ticket, taken)
    except Exception as error:  # noqa: BLE001 - whatever it was, the version is published
        told = next(iter(str(error).splitlines()), "") or type(error).__name__
        if progress:
            progress("unprofiled", {"dataset": plan.dataset, "reason": told})
        else:
            _LOG.warning("no profile of %s was taken: %s", plan.dataset, told)
