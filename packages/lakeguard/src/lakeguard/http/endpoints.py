"""The endpoint that serves every operation of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cache, partial
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from lakeguard.access.principal import Principal
from lakeguard.http.authenticate import require_permission
from lakeguard.http.event_streams import EventStreams, wants_stream
from lakeguard.http.long_operations import FIRST_WAIT, LongOperations, Progress
from lakeguard.http.page_tokens import page_of
from lakeguard.http.rate_limits import WORK_PORTS
from lakeguard.http.request_values import read_call, read_page, read_query
from lakeguard.http.responses import JSON, Answer, Declined, answer_to, answer_without_retry
from lakeguard.http.service import Service
from lakeguard.services.request_keys import StoredAnswer
from lakeguard_sdk.api.operation import Effect, Operation
from lakeguard_sdk.api.operation_state import OPERATIONS_PATH
from lakeguard_sdk.api.operations import operations_by_name
from lakeguard_sdk.api.port_types import Types, callback_types, types_of
from lakeguard_sdk.core.canonical_json import content_hash, hash_bytes
from lakeguard_sdk.errors import DefinitionsChanged, LakeGuardError, StateCommitUnknown
from lakeguard_sdk.model.history import NOT_MEASURED, Remeasured, RemeasurePlan, not_measured
from lakeguard_sdk.security.secret_values import holds_credential

IDEMPOTENCY_KEY = "idempotency-key"
_LONGEST_KEY = 200
_UNPROCESSABLE = HTTPStatus.UNPROCESSABLE_ENTITY
_PRECONDITIONS = {"registry.apply": "registry.definitions"}
"""Operations that accept If-Match, with the operation whose ETag it must equal."""


@dataclass(frozen=True)
class Call:
    """One request to an operation, read and authenticated."""

    types: Types
    principal: Principal
    path: Mapping[str, str]
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def operation(self) -> Operation:
        return self.types.operation


async def principal_of(
    service: Service, request: Request, operation: Operation | None = None
) -> Principal:
    """Who sent the request. Refused with ``RateLimited`` if too many came before it."""
    headers = dict(request.headers)
    client = "" if request.client is None else request.client.host
    if service.authenticate.blocks:
        principal = await run_in_threadpool(service.authenticate, headers, client)
    else:
        principal = service.authenticate(headers, client)
    request.state.principal = principal
    if service.limits is not None:
        is_work = operation is not None and operation.port in WORK_PORTS
        service.limits.admit(principal, is_work=is_work)
    return principal


def endpoint(
    service: Service, long: LongOperations, streams: EventStreams, operation: Operation
) -> Callable[[Request], Any]:
    types = types_of(operation)

    async def answer(request: Request) -> Response:
        request.state.operation = operation.name
        principal = await principal_of(service, request, operation)
        require_permission(principal, operation)
        query = read_query(request.scope["query_string"])
        body = await request.body()
        headers = dict(request.headers)
        call = Call(types, principal, request.path_params, query, headers, body)
        if operation.long:
            return await _started(service, long, call)
        if operation.streamed and wants_stream(request):
            again = partial(principal_of, service, request, operation)
            return await streams.respond(request, principal, again, partial(_read, service, call))
        return response_of(await run_in_threadpool(_answered, service, call))

    return answer


def _read(service: Service, call: Call, principal: Principal) -> Sequence[Any]:
    """The current answer of a streamed operation, to the principal as authenticated last."""
    call = replace(call, principal=principal)
    values, _ = read_call(call.types, call.path, call.query, call.body)
    found: Sequence[Any] = _method(service, call)(**values)
    return found


def _answered(service: Service, call: Call) -> Answer:
    if call.operation.effect is not Effect.KEYED:
        return _result(service, call)
    key = call.headers.get(IDEMPOTENCY_KEY)
    try:
        if key is None:
            return _result(service, call)
        return _answered_once(service, call, key, partial(_result, service, call))
    except StateCommitUnknown as error:
        return answer_without_retry(error)


def _answered_once(
    service: Service, call: Call, key: str, answered: Callable[[], Answer]
) -> Answer:
    """The first request with the key is carried out; others get its answer."""
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isprintable():
        raise Declined(
            _UNPROCESSABLE, f"an Idempotency-Key has 1 to {_LONGEST_KEY} visible characters"
        )
    if holds_credential(key):
        raise Declined(_UNPROCESSABLE, "the Idempotency-Key looks like a credential")
    keys = service.keys_for(call.principal)
    line = content_hash([call.operation.name, dict(call.path), list(map(list, call.query))])
    first = keys.begin(key, content_hash([line, hash_bytes(call.body)]))
    if first is not None:
        status, body = HTTPStatus(first.status), first.body.encode()
        return Answer(status, body, first.content_type, {"Idempotency-Replayed": "true"})
    stored: StoredAnswer | None = None
    try:
        answer = answered()
        stored = _storable(answer)
    except StateCommitUnknown as error:
        stored = _storable(answer_without_retry(error))
        raise
    except (LakeGuardError, Declined) as error:
        refusal = answer_to(error)
        if refusal.status < HTTPStatus.INTERNAL_SERVER_ERROR and not _may_succeed(error):
            stored = _storable(refusal)
        raise
    finally:
        keys.finish(key, stored)
    return answer


def _storable(answer: Answer) -> StoredAnswer:
    return StoredAnswer(int(answer.status), answer.body.decode(), answer.content_type)


def _may_succeed(error: Exception) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, LakeGuardError) and error.retryable


def _result(service: Service, call: Call) -> Answer:
    """Calls the port, and returns its answer as a response."""
    method = _method(service, call)
    types, operation = call.types, call.operation
    values, answers = read_call(types, call.path, call.query, call.body)
    if operation.paged:
        return _page(call, partial(method, **values))
    callbacks, gathered = _gathering(types, answers)
    _require_match(service, call)
    result = method(**values, **callbacks)
    return _shown(types, result, gathered, call.headers)


def _method(service: Service, call: Call) -> Callable[..., Any]:
    client = service.client_for(call.principal)
    found: Callable[..., Any] = getattr(getattr(client, call.operation.port), call.operation.method)

    def traced(*args: Any, **fields: Any) -> Any:
        with service.traces.call(call.operation.name):
            return found(*args, **fields)

    return traced


def _shown(
    types: Types, result: Any, gathered: Mapping[str, list[Any]], headers: Mapping[str, str]
) -> Answer:
    if types.answer is None:
        return Answer(HTTPStatus.NO_CONTENT, b"")
    body = _answer_json(types, result, gathered).encode()
    if not types.operation.tagged:
        return Answer(HTTPStatus.OK, body)
    tag = _etag(body)
    if headers.get("if-none-match") == tag:
        return Answer(HTTPStatus.NOT_MODIFIED, b"", JSON, {"ETag": tag})
    return Answer(HTTPStatus.OK, body, JSON, {"ETag": tag})


def _answer_json(types: Types, result: Any, gathered: Mapping[str, list[Any]]) -> str:
    if types.answer is None:
        return "null"
    if not types.is_wrapped:
        answered: str = result.model_dump_json(by_alias=True)
        return answered
    answer = types.answer.model_construct(**{types.operation.answer: result, **gathered})
    return answer.model_dump_json(by_alias=True, warnings=False)


def _gathering(
    types: Types, answers: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Callbacks that collect their arguments for the answer."""
    callbacks: dict[str, Any] = {}
    gathered: dict[str, list[Any]] = {}
    for name, kind in types.callbacks.items():
        taken, returned = callback_types(kind)
        if returned is None and taken is not str:
            gathered[name] = []
            callbacks[name] = gathered[name].append
        elif returned is Remeasured and answers.get(name) is not None:
            gathered[f"to_{name}"] = []
            callbacks[name] = _Measured(answers[name], gathered[f"to_{name}"])
    return callbacks, gathered


@dataclass(frozen=True)
class _Measured:
    """Returns what the caller has measured, and collects what it still has to measure."""

    known: Mapping[str, Remeasured]
    wanted: list[RemeasurePlan]

    def __call__(self, plan: RemeasurePlan) -> Remeasured:
        found = self.known.get(plan.content_hash())
        if found is not None:
            return found
        self.wanted.append(plan)
        return not_measured(plan, NOT_MEASURED)


# Lists.


def _page(call: Call, read: Callable[..., Sequence[Any]]) -> Answer:
    types = call.types
    size, token = read_page(call.query)
    adapter = _items(types.operation)

    def first(count: int) -> Sequence[Any]:
        return read(limit=count) if types.has_limit else read()

    def shown(item: Any) -> Any:
        return adapter.dump_python(item, mode="json", by_alias=True)

    page = page_of(first, size, token, shown)
    fields: dict[str, Any] = {
        types.operation.answer: page.items,
        "next_page_token": page.next_token,
    }
    answer = None if types.answer is None else types.answer.model_construct(**fields)
    body = "null" if answer is None else answer.model_dump_json(by_alias=True, warnings=False)
    return Answer(HTTPStatus.OK, body.encode())


@cache
def _items(operation: Operation) -> TypeAdapter[Any]:
    return TypeAdapter(types_of(operation).item)


# Preconditions.


def _etag(body: bytes) -> str:
    return f'"{hash_bytes(body).rpartition(":")[2][:32]}"'


def _require_match(service: Service, call: Call) -> None:
    wanted = call.headers.get("if-match")
    if wanted is None or call.operation.name not in _PRECONDITIONS:
        return
    read = operations_by_name()[_PRECONDITIONS[call.operation.name]]
    port = getattr(service.client_for(call.principal), read.port)
    body = _answer_json(types_of(read), getattr(port, read.method)(), {}).encode()
    if wanted != _etag(body):
        raise DefinitionsChanged()


# Long operations.


async def _started(service: Service, long: LongOperations, call: Call) -> Response:
    method = _method(service, call)
    values, answers = read_call(call.types, call.path, call.query, call.body)
    start = partial(_start, long, call, method, values, answers)
    key = call.headers.get(IDEMPOTENCY_KEY)
    if key is None or call.operation.effect is not Effect.KEYED:
        operation_id = start()
    else:
        answered = partial(_id_answer, start)
        answer = await run_in_threadpool(_answered_once, service, call, key, answered)
        operation_id = answer.body.decode()
    state = await long.state(operation_id, call.principal, wait=FIRST_WAIT)
    location = OPERATIONS_PATH.format(operation_id=operation_id)
    body = state.model_dump_json(by_alias=True).encode()
    return response_of(Answer(HTTPStatus.ACCEPTED, body, JSON, {"Location": location}))


def _id_answer(start: Callable[[], str]) -> Answer:
    return Answer(HTTPStatus.ACCEPTED, start().encode())


def _start(
    long: LongOperations,
    call: Call,
    method: Callable[..., Any],
    values: Mapping[str, Any],
    answers: Mapping[str, Any],
) -> str:
    types = call.types

    def work(progress: Progress) -> Any:
        callbacks, gathered = _gathering(types, answers)
        noted = {"progress": progress} if "progress" in types.callbacks else {}
        result = method(**values, **callbacks, **noted)
        if types.answer is None:
            return None
        if types.is_wrapped:
            answer = types.answer.model_construct(**{"result": result, **gathered})
            return answer.model_dump(mode="json", by_alias=True, warnings=False)
        return result.model_dump(mode="json", by_alias=True)

    context = copy_context()  # of the request, whose trace it is
    return long.start(types.operation.name, call.principal, lambda note: context.run(work, note))


def response_of(answer: Answer) -> Response:
    media = answer.content_type if answer.body else None
    return Response(answer.body, int(answer.status), answer.headers, media)
