"""Steps after a publish: delivery to the target and profiling. Neither can fail the run."""

from __future__ import annotations

import logging

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.ports import Reader
from openlaketx.deliver import deliver_published
from openlaketx.engine.file_check import checking_files
from openlaketx.profile import profile_version

_LOG = logging.getLogger("openlaketx")


def deliver_or_report(plan: RunPlan, reader: Reader, progress: Progress | None) -> None:
    """Deliver the published version, whatever the run's result.

    A failure is reported to ``progress`` or logged; the next run retries the delivery.
    """
    if plan.format is TargetFormat.DELTA:
        return
    what = _what(plan)
    if progress:
        progress("deliver", {"what": what})
    try:
        with checking_files(reader):
            deliver_published(plan, reader)
    except Exception as error:  # noqa: BLE001 - the version is published, whatever the error
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        if progress:
            facts = {"dataset": plan.dataset, "what": what, "reason": reason}
            progress("undelivered", facts)
        else:
            _LOG.warning("%s is published, but not delivered: %s", plan.dataset, reason)


def _what(plan: RunPlan) -> str:
    if plan.database is not None:
        return f"table {plan.database.full_name} of PostgreSQL"
    return f"{plan.format.value} files"


def profile_if_due(plan: RunPlan, client: WorkerClient, progress: Progress | None = None) -> None:
    """Profile the dataset if its definition requires it now.

    A failure is reported to ``progress`` or logged. The published version is not affected.
    """
    try:
        due = client.runs.due_profile(plan.ticket)
        if due is None:
            return
        if progress:
            progress("profile", {})
        taken = profile_version(due.dataset, client.reader, masked=due.masked)
        client.runs.submit_profile(plan.ticket, taken)
    except Exception as error:  # noqa: BLE001 - the version is published, whatever the error
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        if progress:
            progress("unprofiled", {"dataset": plan.dataset, "reason": reason})
        else:
            _LOG.warning("profiling of %s failed: %s", plan.dataset, reason)
