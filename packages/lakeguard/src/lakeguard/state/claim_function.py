"""A function of PostgreSQL that claims a few tasks: one round trip, which commits by itself.

It writes what ``begin_attempts`` of the dispatcher writes. Its statements see what was committed
before each of them, so the job is judged as it is once its lock is held.
"""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import URL, BindParameter, ClauseElement, Select, literal_column
from sqlalchemy.sql.visitors import replacement_traverse

from lakeguard.state.locks import key_of
from lakeguard.state.outbox import recorded
from lakeguard.state.queue_order import head
from lakeguard.state.tables.tasks import task_attempts, task_transitions

CLAIM = "lakeguard_claim_tasks"
PARAMETERS = {
    "org_id": "text",
    "labels": "varchar[]",
    "at": "timestamptz",
    "too_far": "timestamptz",
    "job_lock": "text",
    "jobs": "json",
    "worker": "text",
    "actor": "text",
    "run_ids": "text[]",
    "lease_tokens": "text[]",
    "lease_expires_at": "timestamptz",
    "patient": "boolean",
}
"""``job_lock`` and a job's id are the name of its lock. ``jobs`` has the jobs that the caller knows
by id, each as definition hash, concurrency, and hash of its terms. There is a run id and a lease
token for each task that is wanted. Who is not ``patient`` waits for a job for ``_MOMENT`` only."""
_MOMENT = "20ms"
ALL, AGAIN, SEARCH = "all", "again", "search"
"""Why there are not more tasks: these are all that were wanted or are due; another claim holds the
job of the next one; or that job is unknown to the caller or does not let it start, so that the
queue must be searched."""

_NEW = {
    "state": "'running'",
    "changes": "changes + 1",
    "attempt": "attempt + 1",
    "run_id": "given_run_ids[place]",
    "lease_token": "given_lease_tokens[place]",
    "lease_expires_at": "given_lease_expires_at",
    "worker": "given_worker",
    "due_at": "NULL",
    "ended_at": "NULL",
}
_ATTEMPT = {
    "task_id": "head.task_id",
    "attempt": "head.attempt",
    "run_id": "head.run_id",
    "org_id": "head.org_id",
    "started_at": "given_at",
    "worker": "given_worker",
    "config_hash": "job ->> 2",
}
_TRANSITION = {
    "task_id": "head.task_id",
    "number": "head.changes",
    "org_id": "head.org_id",
    "attempt": "head.attempt",
    "from_state": "'queued'::text",
    "to_state": "head.state",
    "at": "given_at",
    "actor": "given_actor",
}


def claim_function() -> str:
    """Its definition. It returns the tasks, most urgent first, and why there are not more.

    It waits for the job of the first task only: a claim that waits while it holds other jobs could
    deadlock.
    """
    given = ", ".join(f"given_{name} {kind}" for name, kind in PARAMETERS.items())
    new = ", ".join(f"{name} = {value}" for name, value in _NEW.items())
    return f"""
CREATE OR REPLACE FUNCTION {CLAIM}({given}) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
    head tasks%ROWTYPE;
    job json;
    lock bigint;
    claimed json[];
    reason text := '{ALL}';
BEGIN
    FOR place IN 1 .. cardinality(given_run_ids) LOOP
        SELECT * INTO head FROM ({_head()}) AS found;
        EXIT WHEN NOT FOUND;
        job := NULL;
        IF head.job_id IS NOT NULL THEN
            job := given_jobs -> head.job_id;
            reason := '{SEARCH}';
            EXIT WHEN job IS NULL;
            lock := {_LOCK};
            IF NOT pg_try_advisory_xact_lock(lock) THEN
                reason := '{AGAIN}';
                EXIT WHEN place > 1;
                BEGIN
                    IF NOT given_patient THEN
                        PERFORM set_config('lock_timeout', '{_MOMENT}', true);
                    END IF;
                    PERFORM pg_advisory_xact_lock(lock);
                EXCEPTION WHEN lock_not_available THEN
                    IF given_patient THEN
                        RAISE;
                    END IF;
                    EXIT;
                END;
                reason := '{SEARCH}';
            END IF;
            EXIT WHEN NOT ({_MAY_START});
            reason := '{ALL}';
        END IF;
        UPDATE tasks SET {new} WHERE tasks.task_id = head.task_id RETURNING * INTO head;
        {recorded({task_transitions: _TRANSITION, task_attempts: _ATTEMPT}, "given_at")}
        claimed := claimed || row_to_json(head);
    END LOOP;
    RETURN json_build_object('tasks', coalesce(claimed, '{{}}'), 'reason', reason);
END $$"""


_LOCK = str(key_of(literal_column("given_job_lock || head.job_id")))
_MAY_START = """
            EXISTS (
                SELECT FROM md_jobs WHERE md_jobs.org_id = given_org_id
                AND md_jobs.job_id = head.job_id AND md_jobs.revision > 0
                AND md_jobs.definition_hash = job ->> 0
            ) AND (
                SELECT s.enabled FROM job_switches AS s
                WHERE s.org_id = given_org_id AND s.job_id = head.job_id
                ORDER BY s.number DESC LIMIT 1
            ) IS NOT FALSE AND (
                SELECT count(*) FROM tasks AS other WHERE other.org_id = given_org_id
                AND other.job_id = head.job_id AND other.state = 'running'
            ) < CAST(job ->> 1 AS integer)"""
"""The job is as the caller knows it, not switched off, and has a free slot."""


def _head() -> str:
    def parameter(element: ClauseElement, **_: Any) -> ClauseElement | None:
        if isinstance(element, BindParameter) and element.key in PARAMETERS:
            return literal_column(f"given_{element.key}", element.type)
        return None

    statement = head(literal_column("given_org_id"))
    named = cast("Select[Any]", replacement_traverse(statement, {}, parameter))
    dialect = URL.create("postgresql").get_dialect()()
    return str(named.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
