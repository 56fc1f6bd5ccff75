"""Responses: JSON, and RFC 9457 problem documents for errors.

A problem holds code, message and next step; never a traceback, nor locations of State or settings.
It does not repeat a credential that the request held.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from inspect import getdoc
from typing import Any

from pydantic import ValidationError
from sqlalchemy.exc import DataError

from lakeguard_sdk.api.problems import MEDIA_TYPE as PROBLEM
from lakeguard_sdk.api.problems import fields_of
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.errors import (
    AlertNotSent,
    BadToken,
    DefinitionError,
    DefinitionsChanged,
    EngineError,
    EventNotSent,
    InvalidDefinitions,
    KeyInUse,
    LakeGuardError,
    MoveError,
    NotAuthenticated,
    NotPermitted,
    NotRegistered,
    PageExpired,
    PlanChanged,
    RateLimited,
    Refused,
    RegistryChanged,
    ServiceBusy,
    SettingsError,
    SourceUnavailable,
    StateCommitUnknown,
    StateError,
    StateFull,
    StateLoginRefused,
    StateUnavailable,
    StoreUnavailable,
    TooLarge,
    UnknownChannel,
    UnknownCheck,
    UnknownGraph,
    UnknownInvalidation,
    UnknownJob,
    UnknownOperation,
    UnknownRun,
    UnknownTask,
    UnknownVersion,
    UnknownWaiver,
    UsageError,
)
from lakeguard_sdk.security.secret_values import without_credentials

JSON = "application/json"
RETRY_SECONDS = 5
_MOST_PROBLEMS = 5
_OURS = "Value error, "
"""How pydantic begins a message of ours."""
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")

_STATUS: tuple[tuple[HTTPStatus, tuple[type[LakeGuardError], ...]], ...] = (
    (HTTPStatus.UNAUTHORIZED, (BadToken, NotAuthenticated)),
    (HTTPStatus.FORBIDDEN, (NotPermitted,)),
    (
        HTTPStatus.NOT_FOUND,
        (
            NotRegistered,
            UnknownChannel,
            UnknownCheck,
            UnknownGraph,
            UnknownInvalidation,
            UnknownJob,
            UnknownOperation,
            UnknownRun,
            UnknownTask,
            UnknownVersion,
            UnknownWaiver,
        ),
    ),
    (HTTPStatus.PRECONDITION_FAILED, (DefinitionsChanged,)),
    (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, (TooLarge,)),
    (HTTPStatus.TOO_MANY_REQUESTS, (RateLimited, ServiceBusy)),
    (HTTPStatus.INSUFFICIENT_STORAGE, (StateFull,)),
    (
        HTTPStatus.SERVICE_UNAVAILABLE,
        (StateError, SettingsError, StoreUnavailable, SourceUnavailable),
    ),
    (HTTPStatus.BAD_GATEWAY, (AlertNotSent, EventNotSent)),
    (HTTPStatus.CONFLICT, (KeyInUse, PageExpired, PlanChanged, RegistryChanged)),
    (HTTPStatus.UNPROCESSABLE_ENTITY, (UsageError,)),
    (HTTPStatus.CONFLICT, (Refused, MoveError, EngineError)),
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
    return without_credentials(canonical_json({**document, **more})).encode()


def answer_to(error: Exception) -> Answer:
    """The response for an error; unexpected ones reveal no details."""
    match error:
        case Declined(status=status, detail=detail, headers=headers):
            return Answer(status, problem(status, status.phrase, detail), PROBLEM, headers)
        case LakeGuardError():
            return _refusal(error)
        case ValidationError():
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            return Answer(status, problem(status, status.phrase, wrong_values(error)), PROBLEM)
        case OverflowError() | DataError():
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            return Answer(status, problem(status, status.phrase, "a value is too large"), PROBLEM)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "internal error; see the log of the service"
    return Answer(status, problem(status, status.phrase, detail, code=LakeGuardError.code), PROBLEM)


def status_of(error: type[LakeGuardError]) -> HTTPStatus:
    server_error = HTTPStatus.INTERNAL_SERVER_ERROR
    return next((status for status, kinds in _STATUS if issubclass(error, kinds)), server_error)


def _refusal(error: LakeGuardError) -> Answer:
    if isinstance(error, StateLoginRefused):  # for callers, the same as unavailable
        error = StateUnavailable(**error.fields)
    status = status_of(type(error))
    headers = {}
    if error.retryable or status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(error.fields.get("seconds", RETRY_SECONDS))
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    document = problem_of(error)
    return Answer(status, canonical_json(document).encode(), PROBLEM, headers)


def answer_without_retry(error: LakeGuardError) -> Answer:
    """The response without ``Retry-After``, so that clients do not retry it automatically."""
    found = _refusal(error)
    headers = {name: value for name, value in found.headers.items() if name != "Retry-After"}
    document = {**problem_of(error), "retryable": False}
    return Answer(found.status, canonical_json(document).encode(), PROBLEM, headers)


def problem_of(error: Exception) -> dict[str, Any]:
    """The problem document of an error, as JSON data."""
    if not isinstance(error, LakeGuardError):
        found: dict[str, Any] = json.loads(answer_to(error).body)
        return found
    detail, step = str(error), error.next_step
    fields = fields_of(error)
    if isinstance(error, StateError):
        passing = error.retryable and not isinstance(error, StateCommitUnknown)
        detail = "the State is unavailable" if passing else _first_sentence(error)
    if isinstance(error, SettingsError):  # its message is for the operator
        detail, step, fields = "the service is not configured for this", "retry later", {}
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": _WORDS.sub(" ", type(error).__name__).lower(),
        "status": int(status_of(type(error))),
        "detail": detail,
        "code": error.code,
        "next": step,
        "retryable": error.retryable,
        "error": type(error).__name__,
        "fields": fields,
    }
    if isinstance(error, DefinitionError):
        document["place"] = error.place.to_data()
    if isinstance(error, InvalidDefinitions):
        document["errors"] = [problem_of(each) for each in error.errors]
    masked: dict[str, Any] = json.loads(without_credentials(canonical_json(document)))
    return masked


def _first_sentence(error: StateError) -> str:
    """From the docstring of the class, because the message may name locations."""
    return " ".join((getdoc(type(error)) or "").split()).partition(". ")[0].rstrip(".")


def wrong_values(error: ValidationError, whole: str = "the body") -> str:
    """Locations and messages of validation errors, without the values."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    messages = [
        f"{'.'.join(map(str, each['loc'])) or whole}: {each['msg'].removeprefix(_OURS)}"
        for each in found
    ]
    return "; ".join(messages[:_MOST_PROBLEMS])
