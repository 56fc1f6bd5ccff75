"""Responses: JSON, and RFC 9457 problem documents for errors.

A problem holds code, message and next step; never a traceback, nor locations of State or settings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from http import HTTPStatus

from pydantic import ValidationError

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.errors import (
    BadToken,
    EventConflict,
    Fenced,
    LakeGuardError,
    MoveError,
    NotPermitted,
    OutputExists,
    Refused,
    ReportConflict,
    SettingsError,
    StateError,
    StateLoginRefused,
    StateUnavailable,
    UnknownRun,
    UsageError,
)

JSON = "application/json"
PROBLEM = "application/problem+json"
RETRY_SECONDS = 5
_MOST_PROBLEMS = 5
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")

_STATUS: tuple[tuple[type[LakeGuardError], HTTPStatus], ...] = (
    (BadToken, HTTPStatus.UNAUTHORIZED),
    (NotPermitted, HTTPStatus.FORBIDDEN),
    (UnknownRun, HTTPStatus.NOT_FOUND),
    (Fenced, HTTPStatus.CONFLICT),
    (ReportConflict, HTTPStatus.CONFLICT),
    (OutputExists, HTTPStatus.CONFLICT),
    (EventConflict, HTTPStatus.CONFLICT),
    (StateError, HTTPStatus.SERVICE_UNAVAILABLE),
    (SettingsError, HTTPStatus.SERVICE_UNAVAILABLE),
    (UsageError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (Refused, HTTPStatus.FORBIDDEN),
    (MoveError, HTTPStatus.CONFLICT),
)
"""The first match counts."""


@dataclass(frozen=True)
class Answer:
    status: HTTPStatus
    body: bytes
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


class Declined(Exception):
    """A request refused by the HTTP layer itself."""

    def __init__(self, status: HTTPStatus, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def problem(status: HTTPStatus, title: str, detail: str, **more: object) -> bytes:
    document = {"type": "about:blank", "title": title, "status": int(status), "detail": detail}
    return canonical_json({**document, **more}).encode()


def answer_to(error: Exception) -> Answer:
    """The response for an error; unexpected ones reveal no details."""
    match error:
        case Declined(status=status, detail=detail, headers=headers):
            return Answer(status, problem(status, status.phrase, detail), PROBLEM, headers)
        case LakeGuardError():
            return _refusal(error)
        case ValidationError():
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            return Answer(status, problem(status, status.phrase, _wrong(error)), PROBLEM)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "internal error; see the log of the dispatcher"
    return Answer(status, problem(status, status.phrase, detail, code=LakeGuardError.code), PROBLEM)


def _refusal(error: LakeGuardError) -> Answer:
    if isinstance(error, StateLoginRefused):  # for callers, the same as unavailable
        error = StateUnavailable(**error.fields)
    server_error = HTTPStatus.INTERNAL_SERVER_ERROR
    status = next((found for kind, found in _STATUS if isinstance(error, kind)), server_error)
    title = _WORDS.sub(" ", type(error).__name__).lower()
    headers = {}
    detail, step = str(error), error.next_step
    if isinstance(error, StateError):
        detail = "the State is unavailable"
    if isinstance(error, SettingsError):  # its message is for the operator
        detail, step = "the service is not configured for this", "retry later"
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(RETRY_SECONDS)
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    more = {"code": error.code, "next": step, "retryable": error.retryable}
    return Answer(status, problem(status, title, detail, **more), PROBLEM, headers)


def _wrong(error: ValidationError) -> str:
    """Locations and messages of validation errors, without the values."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    messages = [f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg']}" for each in found]
    return "; ".join(messages[:_MOST_PROBLEMS])
