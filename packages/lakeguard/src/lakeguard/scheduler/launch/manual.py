"""Manual launches, idempotent by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date

from sqlalchemy import and_, select

from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.launch.job_list import require_job
from lakeguard.scheduler.launch.launch import launch, parameters_text
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.state.schema import md_jobs, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import KeyAlreadyUsed, LaunchInvalid
from lakeguard_sdk.scheduling.jobs import Launch
from lakeguard_sdk.security.secret_values import (
    holds_secret,
    is_reference,
    is_written_out,
    looks_secret,
    shown_value,
)

LONGEST_KEY = 200
_PREFIX = "manual:"
_LONGEST_VALUE = 10_000
_MOST_VALUES = 100
_LONGEST_SHOWN = 60
_MOST_LISTED = 3


def trigger(
    tx: Transaction,
    context: PlaneContext,
    name: str,
    triggered_by: str,
    *,
    day: date | None = None,
    set_to: Mapping[str, str] | None = None,
    key: str | None = None,
    here: bool = False,
) -> Launch:
    """One task per key; without a key, per date and settings; without those, a new task."""
    job = require_job(tx, name)
    values = dict(set_to or {})
    _check(job, values, key)
    request = LaunchRequest(
        job_id=job.job_id,
        key=_key(key, day, values),
        cause=Cause(kind=CauseKind.MANUAL, details={"by": triggered_by}),
        actor=triggered_by,
        parameters=values,
        day=day,
        reserved=here,
    )
    (launched,) = launch(tx, context, [request])
    if launched.task_id and not launched.new:
        _require_same(tx, job, request, launched.task_id)
    return launched


def _require_same(tx: Transaction, job: CurrentJob, request: LaunchRequest, task_id: str) -> None:
    """The same call returns the first result; a different one under the same key is refused."""
    query = (
        select(tasks.c.parameters, md_jobs.c.job_name)
        .outerjoin(md_jobs, and_(md_jobs.c.job_id == tasks.c.job_id, md_jobs.c.org_id == tx.org_id))
        .where(tasks.c.org_id == tx.org_id, tasks.c.task_id == task_id)
    )
    row = tx.execute(query).one()
    before = {"the job": row.job_name, **_named_values(row.parameters)}
    now = {"the job": job.name, **_named_values(parameters_text(request))}
    if before != now:
        key = request.key.removeprefix(_PREFIX)
        raise KeyAlreadyUsed(
            job=job.name, key=key, task=task_id, difference=_difference(before, now)
        )


def _named_values(parameters: str) -> dict[str, str | None]:
    values = json.loads(parameters)
    return {"--date": values.get("day")} | {
        f"--set {name}": value for name, value in values.get("set", {}).items()
    }


def _difference(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> str:
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    differences = [f"{name} was {_word(before, name)} and is {_word(now, name)}" for name in names]
    more = (
        f" and {len(differences) - _MOST_LISTED:,} more" if len(differences) > _MOST_LISTED else ""
    )
    return f"{'; '.join(differences[:_MOST_LISTED])}{more}"


def _word(values: Mapping[str, str | None], name: str) -> str:
    value = values.get(name)
    if value is None:
        return "not set"
    shown = shown_value(name, value)
    return (shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…") or "empty"


def _key(key: str | None, day: date | None, values: Mapping[str, str]) -> str:
    if key is not None:
        return f"{_PREFIX}{key}"
    if day is None:
        return f"{_PREFIX}{new_id('task')}"
    digest = content_hash(dict(values)).removeprefix("sha256:")[:16] if values else ""
    return "-".join(filter(None, [f"{_PREFIX}{day.isoformat()}", digest]))


def _check(job: CurrentJob, values: Mapping[str, str], key: str | None) -> None:
    """Refuse secrets: launch settings are stored and shown."""
    problem = ""
    if key is not None and not (key.strip() and key.isprintable() and len(key) <= LONGEST_KEY):
        problem = f"a key has 1 to {LONGEST_KEY} characters that can be seen"
    elif key is not None and holds_secret(key):
        problem = "the key looks like a secret, and is kept and shown"
    if len(values) > _MOST_VALUES:
        problem = f"it sets more than {_MOST_VALUES} values"
    for name, value in values.items():
        if not name.strip() or not name.isprintable() or len(name) > LONGEST_KEY:
            problem = "write --set NAME=VALUE"
        elif len(value) > _LONGEST_VALUE:
            problem = f"{name} is longer than {_LONGEST_VALUE:,} characters"
        elif is_written_out(name, value) or (looks_secret(value) and not is_reference(value)):
            problem = f"{name[:80]} looks like a secret; write env:NAME or file:PATH"
    if problem:
        raise LaunchInvalid(job=job.name, problem=problem)
