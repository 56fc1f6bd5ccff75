"""RFC 9457 problem documents, and the errors that they represent."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import ConfigDict, Field, ValidationError
from pydantic_core import to_jsonable_python

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import (
    DefinitionError,
    InvalidDefinitions,
    LakeGuardError,
    Place,
    RequestRefused,
    StateError,
    error_classes,
)

MEDIA_TYPE = "application/problem+json"


class ProblemPlace(FrozenModel):
    """A place in a file."""

    file: str
    line: int
    column: int
    length: int


class Problem(FrozenModel):
    """Why a request was refused; the same message as on the command line."""

    model_config = ConfigDict(extra="ignore")

    type: str = "about:blank"
    title: str
    """The name of the error, in words."""
    status: int
    detail: str
    """What happened, and why."""
    code: str | None = None
    """The stable code of the error; absent if the request itself was refused."""
    next: str | None = None
    """What to do."""
    retryable: bool = False
    """Whether the same request may succeed later."""
    error: str | None = None
    """The name of the error."""
    fields: dict[str, Any] = Field(default_factory=dict)
    """The values in the message."""
    place: ProblemPlace | None = None
    errors: tuple[Problem, ...] = ()
    """One problem for each invalid definition."""


def fields_of(error: LakeGuardError) -> dict[str, Any]:
    """The error's fields as JSON; none for errors whose fields may name locations of the State."""
    if isinstance(error, StateError):
        return {}
    found = to_jsonable_python(error.fields, fallback=str)
    return dict(found)


@cache
def _classes() -> dict[str, type[LakeGuardError]]:
    return {found.__name__: found for found in error_classes()}


def error_of(problem: Problem) -> LakeGuardError:
    """The error that the service raised, as the same class."""
    found = _classes().get(problem.error or "")
    if found is None:
        return RequestRefused(status=problem.status, reason=problem.detail)
    error = found.restored(problem.detail, problem.next or "", dict(problem.fields))
    if isinstance(error, DefinitionError) and problem.place is not None:
        error.place = Place(**problem.place.to_data())
    if isinstance(error, InvalidDefinitions):
        restored = (error_of(each) for each in problem.errors)
        error.errors = tuple(each for each in restored if isinstance(each, DefinitionError))
    return error


def error_of_body(status: int, body: bytes) -> LakeGuardError:
    """Also for a body that is not a problem document, such as that of a proxy."""
    try:
        return error_of(Problem.model_validate_json(body))
    except ValidationError:
        return RequestRefused(status=status, reason="the response is not a problem document")
