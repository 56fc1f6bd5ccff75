"""The application of a service: the API, the inbox, health checks and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lakeguard.access.authorise import actions_of
from lakeguard.http.authenticate import require_all_figures
from lakeguard.http.endpoints import endpoint, principal_of, response_of
from lakeguard.http.event_streams import EventStreams, StreamTimes
from lakeguard.http.inbox import PATHS, Inbox
from lakeguard.http.inbox import Request as Received
from lakeguard.http.long_operations import LongOperations
from lakeguard.http.metrics import CONTENT_TYPE, ServiceMetrics
from lakeguard.http.middleware import MOST_AT_ONCE, PATIENCE_SECONDS, Guard
from lakeguard.http.openapi import OPENAPI_PATH, openapi_document
from lakeguard.http.request_values import read_query
from lakeguard.http.responses import JSON, Answer, Declined, answer_to, problem_of
from lakeguard.http.service import Service
from lakeguard_sdk.api.operation import PREFIX
from lakeguard_sdk.api.operation_state import LONGEST_WAIT, OPERATIONS_PATH, ServiceInfo
from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.api.problems import Problem

_UNPROCESSABLE = HTTPStatus.UNPROCESSABLE_ENTITY


def create_app(
    service: Service,
    *,
    patience_seconds: float = PATIENCE_SECONDS,
    most_at_once: int = MOST_AT_ONCE,
    stream_times: StreamTimes | None = None,
) -> FastAPI:
    """The control plane is not used before the first request."""
    streams = EventStreams(stream_times or StreamTimes())
    long = LongOperations(lambda error: Problem.model_validate(problem_of(error)))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        long.close()
        service.traces.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.close_streams = streams.close
    is_local = service.has_api and service.authenticate.is_local
    metrics = ServiceMetrics(service.figures) if service.has_api else None
    app.add_middleware(
        Guard,
        is_local=is_local,
        figures=metrics,
        limits=service.limits,
        traces=service.traces,
        patience_seconds=patience_seconds,
        most_at_once=most_at_once,
    )
    app.add_exception_handler(HTTPException, _not_found)
    _add_inbox(app, service)
    _add_health(app, service)
    if metrics is not None:
        _add_api(app, service, long, streams)
        _add_metrics(app, service, metrics)
    return app


def _add_metrics(app: FastAPI, service: Service, metrics: ServiceMetrics) -> None:
    async def measured(request: Request) -> Response:
        request.state.operation = "metrics"
        require_all_figures(await principal_of(service, request))
        return Response(await run_in_threadpool(metrics.text), media_type=CONTENT_TYPE)

    app.router.routes.append(Route("/metrics", measured, methods=["GET"]))


def _add_inbox(app: FastAPI, service: Service) -> None:
    if service.inbox_secret is not None:
        service.inbox_secret()  # refuses to start without it
    asks_who = not service.authenticate.is_local
    inbox = Inbox(service.client, service.place, service.inbox_secret, service.ticket_of, asks_who)

    async def answer(request: Request) -> Response:
        request.state.operation = PATHS[request.url.path].removeprefix("_")
        headers = dict(request.headers)
        if service.limits is not None:
            service.limits.admit_address("" if request.client is None else request.client.host)
        received = Received(request.url.path, headers, await request.body())
        found = await run_in_threadpool(inbox.answer, received)
        request.state.credential_accepted = inbox.takes_token(received.path)
        return response_of(found)

    app.router.routes.extend(Route(path, answer, methods=["POST"]) for path in PATHS)


def _add_health(app: FastAPI, service: Service) -> None:
    async def healthy(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        """Unauthenticated and therefore cheap."""
        await run_in_threadpool(service.client.dispatch.check)
        return JSONResponse({"status": "ok"})

    app.router.routes.append(Route("/healthz", healthy, methods=["GET"]))
    app.router.routes.append(Route("/readyz", ready, methods=["GET"]))


def _add_api(app: FastAPI, service: Service, long: LongOperations, streams: EventStreams) -> None:
    routes = [
        Route(each.template, endpoint(service, long, streams, each), methods=[each.verb])
        for each in OPERATIONS
    ]

    async def state(request: Request) -> Response:
        request.state.operation = "operation"
        principal = await principal_of(service, request)
        after, wait = _progress_query(request)
        operation_id = request.path_params["operation_id"]
        found = await long.state(operation_id, principal, after=after, wait=wait)
        return Response(found.model_dump_json(by_alias=True), media_type=JSON)

    async def info(request: Request) -> Response:
        request.state.operation = "service"
        principal = await principal_of(service, request)
        client = service.client_for(principal)
        found = ServiceInfo(
            version=version("lakeguard"),
            organisation=principal.org_id,
            actor=principal.name,
            lake=client.lake,
            spark_options=dict(service.client.spark_options),
            heartbeat_seconds=service.client.heartbeat_seconds,
            actions=actions_of(principal),
        )
        return Response(found.model_dump_json(), media_type=JSON)

    async def described(request: Request) -> Response:
        request.state.operation = "openapi"
        return JSONResponse(await run_in_threadpool(openapi_document))

    routes.append(Route(OPENAPI_PATH, described, methods=["GET"]))
    routes.append(Route(OPERATIONS_PATH, state, methods=["GET"]))
    routes.append(Route(f"{PREFIX}/service", info, methods=["GET"]))
    app.router.routes.extend(routes)


def _progress_query(request: Request) -> tuple[int, int]:
    given = dict(read_query(request.scope["query_string"]))
    values = {name: given.pop(name, "0") for name in ("after", "wait")}
    if given or not all(text.isascii() and text.isdigit() for text in values.values()):
        raise Declined(_UNPROCESSABLE, "the query takes after and wait, which are numbers")
    if any(len(text) > 6 for text in values.values()):
        raise Declined(_UNPROCESSABLE, "after and wait have at most 6 digits")
    return int(values["after"]), min(int(values["wait"]), LONGEST_WAIT)


async def _not_found(_: Request, error: Exception) -> Response:
    """Refusals of the router itself, as problem documents."""
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    headers = {} if error.headers is None else {k.title(): v for k, v in error.headers.items()}
    detail = status.description or status.phrase
    if status is HTTPStatus.NOT_FOUND:
        detail = f"there is nothing at this path; {OPENAPI_PATH} lists what there is"
    answer = answer_to(Declined(status, detail))
    return response_of(Answer(answer.status, answer.body, answer.content_type, headers))
