"""Claims of a few tasks by one statement of PostgreSQL, for jobs whose settings are known here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from lakeguard.dispatch.assign import Assigned, assignments
from lakeguard.dispatch.claim import Claimed, job_lock
from lakeguard.dispatch.retry import too_far
from lakeguard.dispatch.task_row import Task, worker_json
from lakeguard.ledger.notifications.store import has_event_channel
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.claim_function import CLAIM, PARAMETERS, SEARCH
from lakeguard.state.locks import full_name
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.run import WorkerIdentity

_CALL = f"SELECT {CLAIM}({', '.join(f'%({name})s' for name in PARAMETERS)})"
FEW_TASKS = 16
"""With more tasks, statements that claim all of them together are faster."""
_MOST_KNOWN = 50


class JobFacts(NamedTuple):
    """Jobs by id, and as the function takes them."""

    by_id: Mapping[str, Assigned]
    facts: str


class KnownJobs:
    """The jobs of the last claims, whose terms are in the State. Thread-safe."""

    def __init__(self) -> None:
        self._known = JobFacts({}, "{}")

    def now(self) -> JobFacts:
        return self._known

    def add(self, jobs: Mapping[str, Assigned]) -> None:
        """Those of a claim that was committed."""
        known = self._known.by_id
        new = {
            job_id: job
            for job_id, job in jobs.items()
            if job_id not in known or known[job_id].definition_hash != job.definition_hash
        }
        if not new:
            return
        kept = dict(islice({**new, **known, **new}.items(), _MOST_KNOWN))
        facts = {job_id: _facts(job) for job_id, job in kept.items()}
        self._known = JobFacts(kept, json.dumps(facts))


def _facts(job: Assigned) -> tuple[str, int, str]:
    return job.definition_hash, job.terms.controls.concurrency, job.terms.content_hash()


@dataclass(frozen=True)
class FewTasks:
    """A worker's request for a few tasks."""

    worker: WorkerIdentity
    limit: int
    labels: frozenset[str]
    rules: DispatchSettings
    jobs: JobFacts
    patient: bool = True
    """Whether to wait for a job that another claim holds, and not only for a moment."""

    def values(self, tx: Transaction, at: datetime) -> dict[str, Any]:
        """Parameters of the function."""
        return {
            "org_id": tx.org_id,
            "labels": _array(sorted(self.labels)),
            "at": at,
            "too_far": too_far(at, self.rules),
            "job_lock": full_name(tx.connection, job_lock(tx.org_id, "")),
            "jobs": self.jobs.facts,
            "worker": worker_json(self.worker),
            "actor": self.worker.name,
            "run_ids": _array([new_id("run") for _ in range(self.limit)]),
            "lease_tokens": _array([new_id("lease") for _ in range(self.limit)]),
            "lease_expires_at": at + self.rules.lease,
            "patient": self.patient,
        }

    def claimed(self, tx: Transaction, answer: Mapping[str, Any]) -> Claimed:
        """What the function answered."""
        begun = [Task.model_validate({**row, "worker": self.worker}) for row in answer["tasks"]]
        assigned = assignments(tx, begun, self.jobs.by_id, self.rules)
        return Claimed(assigned, begun=begun, reason=answer["reason"])


def _array(words: Sequence[str]) -> str:
    """An array of PostgreSQL: the driver takes longer for a list than for all other parameters."""
    quoted = [word.replace("\\", "\\\\").replace('"', '\\"') for word in words]
    return '{"' + '","'.join(quoted) + '"}' if words else "{}"


def claim_few(tx: Transaction, wanted: FewTasks) -> Claimed:
    """The most urgent tasks, on a connection in autocommit mode."""
    if has_event_channel(tx):  # which is told of every start
        return Claimed(reason=SEARCH)
    return wanted.claimed(tx, tx.value_of(_CALL, wanted.values(tx, tx.now())))
