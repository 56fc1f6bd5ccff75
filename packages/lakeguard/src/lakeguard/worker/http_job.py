"""HTTP jobs: POST the start request; the remote system reports back with the task's token."""

from __future__ import annotations

import json

from pydantic import ValidationError

from lakeguard.worker.attempt import Attempt
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.errors import CallFailed, CallRefused, LakeGuardError, SecretMissing
from lakeguard_sdk.expressions.json_values import read_json
from lakeguard_sdk.scheduling.jobs import SIGNING_SECRET
from lakeguard_sdk.scheduling.tasks import TaskReport
from lakeguard_sdk.security.secret_references import resolve
from lakeguard_sdk.security.signed_webhook import Answer, NoAnswer, SignedPost

REPORT_PATH = "/api/v1/tasks/report"
KEEP_PATH = "/api/v1/tasks/keep"
MOST_SECONDS = 30.0
"""Time limit of the response, not of the job."""
MOST_ANSWERED = 256 * 1024
"""Maximum response size in bytes, the same as for a report."""


def start_http_job(attempt: Attempt) -> TaskReport | None:
    """None if the remote system accepted the job and reports later; else the immediate result."""
    try:
        answer = _sent(attempt)
    except (SecretMissing, CallRefused, CallFailed) as error:
        return TaskReport.failed(error)
    if answer.is_yes:
        return _report_in(attempt, answer)
    kind = CallFailed if answer.may_pass else CallRefused
    return TaskReport.failed(kind(job=attempt.name, reason=f"HTTP status {answer.status}"))


def _sent(attempt: Attempt) -> Answer:
    assignment = attempt.assignment
    reference = assignment.secrets.get(SIGNING_SECRET)
    if reference is None:
        reason = f"its details have no {SIGNING_SECRET} (env:NAME or file:PATH) to sign the call"
        raise CallRefused(job=attempt.name, reason=reason)
    if not assignment.token:
        reason = "no task token could be signed; the log of the worker says why"
        raise CallRefused(job=attempt.name, reason=reason)
    post = SignedPost(
        assignment.url, resolve(reference), f"dlv_{attempt.ticket.run_id}", call_body(attempt)
    )
    try:
        return post.send(min(MOST_SECONDS, assignment.timeout_seconds), most=MOST_ANSWERED)
    except NoAnswer as error:
        raise CallFailed(job=attempt.name, reason=str(error)) from None


def call_body(attempt: Attempt) -> bytes:
    """One JSON object, deterministic per attempt, without secret references."""
    assignment, ticket = attempt.assignment, attempt.ticket
    parameters, secrets = assignment.parameters.items(), assignment.secrets
    body = {
        "job": attempt.name,
        "task": ticket.task_id,
        "run": ticket.run_id,
        "attempt": ticket.attempt,
        "parameters": {name: text for name, text in parameters if name not in secrets},
        "outputs": list(assignment.outputs),
        "timeout_seconds": assignment.timeout_seconds,
        "token": assignment.token,
        "report_path": REPORT_PATH,
        "keep_path": KEEP_PATH,
    }
    return canonical_json(body).encode()


def _report_in(attempt: Attempt, answer: Answer) -> TaskReport | None:
    """The ``report`` in the response, if any; another response means accepted, unless it cannot be
    parsed and may contain a report."""
    if answer.body is None:
        reason = f"response larger than {MOST_ANSWERED:,} bytes"
        return TaskReport.failed(CallRefused(job=attempt.name, reason=reason))
    try:
        text = answer.body.decode("utf-8-sig")
        read_json(text)
        content = json.loads(text)
    except ValueError:
        return _improper(attempt) if b'"report"' in answer.body else None
    if not isinstance(content, dict) or "report" not in content:
        return None
    try:
        return TaskReport.model_validate_json(json.dumps(content["report"]), strict=True)
    except (ValidationError, LakeGuardError):
        return _improper(attempt)


def _improper(attempt: Attempt) -> TaskReport:
    return TaskReport.failed(
        CallRefused(job=attempt.name, reason="the response holds an invalid report")
    )
