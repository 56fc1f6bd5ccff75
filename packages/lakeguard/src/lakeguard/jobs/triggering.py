"""Starting a job by hand: by a key that says what makes two calls the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from sqlalchemy import Connection

from lakeguard.jobs.current import CurrentJob
from lakeguard.jobs.launching import launch
from lakeguard.jobs.listing import require_job
from lakeguard.jobs.wishes import Cause, CauseKind, Wish
from lakeguard.promotion.heart import Heart
from lakeguard_sdk.canonical import content_hash
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.job import Launch
from lakeguard_sdk.job_errors import LaunchInvalid
from lakeguard_sdk.secret_values import is_reference, is_written_out, looks_secret

LONGEST_KEY = 200
_LONGEST_VALUE = 10_000
_MOST_VALUES = 100


def trigger(
    connection: Connection,
    heart: Heart,
    name: str,
    triggered_by: str,
    *,
    day: date | None = None,
    set_to: Mapping[str, str] | None = None,
    key: str | None = None,
    here: bool = False,
) -> Launch:
    """One task for the key; without one, for the day and what is set; without those, a new one."""
    job = require_job(connection, heart.org_id, name)
    values = dict(set_to or {})
    _check(job, values, key)
    wish = Wish(
        job_id=job.job_id,
        key=_key(key, day, values),
        cause=Cause(kind=CauseKind.MANUAL, details={"by": triggered_by}),
        actor=triggered_by,
        parameters=values,
        day=day,
        reserved=here,
    )
    return launch(connection, heart, [wish])[0]


def _key(key: str | None, day: date | None, values: Mapping[str, str]) -> str:
    if key is not None:
        return f"manual:{key}"
    if day is None:
        return f"manual:{new_id('task')}"
    said = content_hash(dict(values)).removeprefix("sha256:")[:16] if values else ""
    return "-".join(filter(None, [f"manual:{day.isoformat()}", said]))


def _check(job: CurrentJob, values: Mapping[str, str], key: str | None) -> None:
    """What a launch sets is kept and shown: it holds no secret."""
    problem = ""
    if key is not None and not (key.strip() and key.isprintable() and len(key) <= LONGEST_KEY):
        problem = f"a key has 1 to {LONGEST_KEY} characters that can be seen"
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
