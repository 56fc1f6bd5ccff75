"""A port call over HTTP as steps, which a sync or async transport carries out."""

from __future__ import annotations

import inspect
import json
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, TypeVar, get_origin
from urllib.parse import quote

from lakeguard_sdk.api.operation import Effect, Operation
from lakeguard_sdk.api.operation_state import (
    LONGEST_WAIT,
    OPERATIONS_PATH,
    OperationState,
    OperationStatus,
)
from lakeguard_sdk.api.operations import PORTS
from lakeguard_sdk.api.port_types import Parameter, Types, callback_types, field_of, types_of
from lakeguard_sdk.api.problems import error_of, error_of_body
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import (
    KeyInUse,
    LakeGuardError,
    PageExpired,
    RequestRefused,
    ServiceNotTrusted,
    StateUnavailable,
    VersionUnreadable,
)
from lakeguard_sdk.model.history import Remeasured, RemeasurePlan, not_measured

T = TypeVar("T")

PAGE_SIZE = 1_000
MOST_RESTARTS = 3
"""How often a list that changes while it is read is started again."""
TRIES = 4
BACKOFF = Backoff(first=0.2, longest=5.0)
LONGEST_PAUSE = 30.0
_TOO_MANY = 429  # nothing was done, so it is always safe to retry
_GATEWAY = (502, 503, 504)
_UNAVAILABLE = (_TOO_MANY, *_GATEWAY)


@dataclass(frozen=True)
class Request:
    verb: str
    url: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = True
    """Whether it may be sent again if its response is lost."""


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Lost:
    """No response arrived. A request that was not sent is always safe to retry."""

    reason: str
    was_sent: bool
    is_untrusted: bool = False
    """Whether the connection was refused here: what is sent again is refused again."""


@dataclass(frozen=True)
class Send:
    request: Request


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Work:
    """A callback of the caller, such as measuring a version."""

    do: Callable[[Any], Any]
    argument: Any


Step = Send | Pause | Work
Steps = Generator[Step, Any, T]


@cache
def _signature(operation: Operation) -> inspect.Signature:
    signature = inspect.signature(getattr(PORTS[operation.port], operation.method))
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def call_steps(
    operation: Operation, args: tuple[Any, ...], fields: Mapping[str, Any], service: str
) -> Steps[Any]:
    """The steps of ``port.method(*args, **fields)``; ``service`` is its name in messages."""
    types = types_of(operation)
    bound = _signature(operation).bind(*args, **fields).arguments
    given = {name: value for name, value in bound.items() if name in types.parameters}
    callbacks = {name: bound[name] for name in types.callbacks if bound.get(name) is not None}
    call = _Call(types, given, callbacks, service)
    if operation.paged:
        return call.pages()
    return call.long() if operation.long else call.once()


@dataclass(frozen=True)
class _Call:
    types: Types
    given: dict[str, Any]
    callbacks: dict[str, Callable[[Any], Any]]
    service: str

    def once(self) -> Steps[Any]:
        request = _request(self.types, self.given)
        return self._result((yield from sent(request, self.service)).body)

    def _result(self, body: bytes) -> Any:
        if self.types.answer is None:
            return None
        answer = read_answer(self.types.answer, body)
        if not self.types.is_wrapped:
            return answer
        for name, kind in self.types.callbacks.items():
            taken, returned = callback_types(kind)
            if returned is None and taken is not str and name in self.callbacks:
                for each in getattr(answer, name):
                    self.callbacks[name](each)
        return getattr(answer, self.types.operation.answer)

    # Lists.

    def pages(self) -> Steps[Any]:
        for restart in range(MOST_RESTARTS):
            try:
                items = yield from self._all_pages()
            except PageExpired:
                if restart == MOST_RESTARTS - 1:
                    raise
            else:
                return tuple(items) if get_origin(self.types.result) is tuple else items
        raise AssertionError("the last restart raises")

    def _all_pages(self) -> Steps[list[Any]]:
        limit = self.given.get("limit", self._default_limit())
        request = _request(self.types, self.given)
        items: list[Any] = []
        token = ""
        while limit is None or len(items) < limit:
            size = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - len(items))
            page = (("page_size", str(size)), *([("page_token", token)] if token else []))
            asked = replace(request, query=request.query + page)
            reply = yield from sent(asked, self.service)
            if self.types.answer is None:
                break
            answer = read_answer(self.types.answer, reply.body)
            items += getattr(answer, self.types.operation.answer)
            token = getattr(answer, "next_page_token") or ""  # noqa: B009 - of a made model
            if not token:
                break
        return items

    def _default_limit(self) -> int | None:
        limit = self.types.parameters.get("limit")
        return None if limit is None else int(limit.default)

    # Long operations.

    def long(self) -> Steps[Any]:
        asks = [name for name, kind in self.types.callbacks.items() if callback_types(kind)[1]]
        found: dict[str, Any] = {}
        while True:
            given = dict(self.given)
            given |= {name: found for name in asks if name in self.callbacks}
            result = yield from self._ended(_request(self.types, given))
            if not asks:
                return result
            waiting = [(name, plan) for name in asks for plan in getattr(result, f"to_{name}")]
            if not waiting:
                return result.result
            for name, plan in waiting:
                found[plan.content_hash()] = yield Work(
                    partial(_measured, self.callbacks[name]), plan
                )

    def _ended(self, request: Request) -> Steps[Any]:
        reply = yield from sent(request, self.service)
        seen = 0
        while True:
            state = read_answer(OperationState, reply.body)
            for line in state.progress:
                if "progress" in self.callbacks:
                    self.callbacks["progress"](line)
            seen = state.lines
            if state.status is OperationStatus.FAILED and state.problem is not None:
                raise error_of(state.problem)
            if state.status is OperationStatus.DONE:
                if self.types.answer is None:
                    return None
                return read_answer(self.types.answer, json.dumps(state.result).encode())
            query = (("after", str(seen)), ("wait", str(LONGEST_WAIT)))
            url = OPERATIONS_PATH.format(operation_id=quote(state.operation_id, safe=""))
            reply = yield from sent(Request("GET", url, query), self.service)


def _measured(measure: Callable[[RemeasurePlan], Remeasured], plan: RemeasurePlan) -> Remeasured:
    """An unreadable version has no measures, as in the embedded control plane."""
    try:
        return measure(plan)
    except VersionUnreadable as error:
        return not_measured(plan, str(error))


def sent_by(token: str, steps: Steps[T]) -> Steps[T]:
    """The same steps, with each request authenticated by the token."""
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            found: T = end.value
            return found
        if isinstance(step, Send):
            headers = {**step.request.headers, "Authorization": f"Bearer {token}"}
            step = Send(replace(step.request, headers=headers))
        answer = yield step


def sent(request: Request, service: str) -> Steps[Reply]:
    """The response; raises the error of a refusal. Repeatable requests are retried, after the time
    that the service asks for."""
    pauses = BACKOFF.jittered()
    for last in (*(False,) * (TRIES - 1), True):
        reply: Reply | Lost = yield Send(request)
        if isinstance(reply, Lost):
            if reply.is_untrusted:
                raise ServiceNotTrusted(place=service, reason=reply.reason)
            if last or (reply.was_sent and not request.is_repeatable):
                raise StateUnavailable(place=service, reason=reply.reason)
            yield Pause(next(pauses))
            continue
        if reply.status < 400:
            return reply
        pause = next(pauses)
        after = reply.headers.get("retry-after", "")
        error = _refusal(reply, service)
        if after.isdigit():
            error.retry_after = min(float(after), LONGEST_PAUSE)
        waits = reply.status in _UNAVAILABLE or isinstance(error, KeyInUse)
        may_be_sent = request.is_repeatable or reply.status == _TOO_MANY
        if not waits or last or not may_be_sent or not after:
            raise error
        yield Pause(error.retry_after if after.isdigit() else pause)
    raise AssertionError("the last try returns or raises")


def _refusal(reply: Reply, service: str) -> LakeGuardError:
    """A gateway that answers for the service says that it is unavailable."""
    error = error_of_body(reply.status, reply.body)
    if reply.status in _GATEWAY and isinstance(error, RequestRefused):
        return StateUnavailable(place=service, reason=f"HTTP status {reply.status}")
    return error


# Requests and answers.


def read_answer(model: type[FrozenModel], body: bytes) -> Any:
    """Unknown fields are ignored: the service may be newer."""
    return model.model_validate_json(body, extra="ignore")


def _request(types: Types, given: Mapping[str, Any]) -> Request:
    operation = types.operation
    values = {field_of(each): _path_value(each, given) for each in types.path}
    url = operation.template
    for parameter in types.path:
        url = url.replace(f"{{{parameter.name}}}", values[field_of(parameter)])
    query = [pair for each in types.query for pair in _query_pairs(each, given)]
    headers = {}
    if operation.effect is Effect.KEYED:
        headers["Idempotency-Key"] = uuid.uuid4().hex
    body = None
    if operation.raw:
        (raw,) = (value for name, value in given.items() if types.parameters[name].is_required)
        body, headers["Content-Type"] = raw, "application/json"
    elif types.body is not None:
        body, headers["Content-Type"] = _body(types.body, given), "application/json"
    repeatable = operation.effect is not Effect.ONCE
    return Request(operation.verb, url, tuple(query), body, headers, repeatable)


def _body(model: type[FrozenModel], given: Mapping[str, Any]) -> bytes:
    fields = {name: value for name, value in given.items() if name in model.model_fields}
    body = model.model_construct(**fields)
    return body.model_dump_json(by_alias=True, include=set(fields), warnings=False).encode()


def _path_value(parameter: Parameter, given: Mapping[str, Any]) -> str:
    return quote(_text(parameter, _value(parameter, given)), safe="")


def _query_pairs(parameter: Parameter, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    value = _value(parameter, given)
    return [] if value is None else [(parameter.name, _text(parameter, value))]


def _value(parameter: Parameter, given: Mapping[str, Any]) -> Any:
    if not parameter.source:
        return given.get(parameter.name)
    return getattr(given.get(parameter.source), field_of(parameter), None)


def _text(parameter: Parameter, value: Any) -> str:
    plain = parameter.adapter.dump_python(value, mode="json", warnings=False)
    return json.dumps(plain) if isinstance(plain, bool) else str(plain)
