"""The last step of a run: what its target keeps for readers that know no table format."""

from __future__ import annotations

import logging

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.ports import Reader
from openlaketx.deliver import deliver_published
from openlaketx.profile import profile_version

_LOG = logging.getLogger("openlaketx")


def deliver_or_tell(plan: RunPlan, reader: Reader, progress: Progress | None) -> None:
    """Deliver what is published, however the run ended.

    A failure is told once, or logged where nobody listens; it changes no result: the version
    stands, and every next run tries again.
    """
    if plan.format is TargetFormat.DELTA:
        return
    what = _what(plan)
    if progress:
        progress("deliver", {"what": what})
    try:
        deliver_published(plan, reader)
    except Exception as error:  # noqa: BLE001 - whatever it was, the version is published
        told = next(iter(str(error).splitlines()), "") or type(error).__name__
        if progress:
            facts = {"dataset": plan.dataset, "what": what, "reason": told}
            progress("undelivered", facts)
        else:
            _LOG.warning("%s is published, but not delivered: %s", plan.dataset, told)


def _what(plan: RunPlan) -> str:
    if plan.database is not None:
        return f"table {plan.database.full_name} of PostgreSQL"
    return f"{plan.format.value} files"


# Profiles after a publish: off the way of the data, and never a reason for a run to fail.


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
