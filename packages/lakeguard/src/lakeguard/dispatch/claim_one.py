"""Claims of one task by one statement of PostgreSQL, for jobs whose settings are known here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice

from lakeguard.dispatch.assign import Assigned, assignments
from lakeguard.dispatch.claim import Claimed, job_lock
from lakeguard.dispatch.retry import too_far
from lakeguard.dispatch.task_row import Task
from lakeguard.ledger.notifications.store import has_event_channel
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.claim_function import CLAIM, PARAMETERS
from lakeguard.state.locks import full_name
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.run import WorkerIdentity

_CALL = f"SELECT {CLAIM}({', '.join(f'%({name})s' for name in PARAMETERS)})"
_MOST = 50


class KnownJobs:
    """The jobs of the last claims, whose terms are in the State."""

    def __init__(self) -> None:
        self._known: tuple[dict[str, Assigned], str] = ({}, "{}")

    def now(self) -> tuple[Mapping[str, Assigned], str]:
        """By id, and as the function takes them."""
        return self._known

    def add(self, jobs: Mapping[str, Assigned]) -> None:
        """Those of a claim that was committed."""
        if not jobs:
            return
        newest = {**jobs, **self._known[0], **jobs}
        kept = dict(islice(newest.items(), _MOST))
        self._known = kept, json.dumps({job_id: _facts(job) for job_id, job in kept.items()})


def _facts(job: Assigned) -> tuple[str, int, str]:
    return job.definition_hash, job.terms.controls.concurrency, job.terms.content_hash()


def claim_one(
    tx: Transaction,
    worker: WorkerIdentity,
    labels: frozenset[str],
    rules: DispatchSettings,
    known: KnownJobs,
) -> Claimed | None:
    """The most urgent task. None if its job is not known here or does not let it start: the whole
    queue must be searched."""
    if has_event_channel(tx):  # which is told of every start
        return None
    at, (jobs, facts) = tx.now(), known.now()
    given = {
        "org_id": tx.org_id,
        "labels": sorted(labels),
        "at": at,
        "too_far": too_far(at, rules),
        "job_lock": full_name(tx.connection, job_lock(tx.org_id, "")),
        "jobs": facts,
        "worker": worker.to_json(),
        "actor": worker.name,
        "run_id": new_id("run"),
        "lease_token": new_id("lease"),
        "lease_expires_at": at + rules.lease,
    }
    found = tx.connection.exec_driver_sql(_CALL, given).scalar_one()
    if found is None:
        return Claimed()
    if not found:
        return None
    begun = [Task.model_validate({**found, "worker": worker})]
    return Claimed(assignments(tx, begun, jobs, rules), begun=begun)
