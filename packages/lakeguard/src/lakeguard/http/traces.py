"""Traces for an OpenTelemetry collector: one span per request, and one for the call it makes.

Attributes are ids, names and statuses. No header, query, body or message of an error is among them.
OpenTelemetry is imported only if traces are configured.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

from lakeguard_sdk.errors import TracesUnavailable

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_log = logging.getLogger(__name__)
ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
EXTRA = "lakeguard[traces]"
_TIMEOUT_SECONDS = 5
_SERVER_ERROR = 500

Describe = Callable[[str, Mapping[str, Any]], None]
"""Names the span of a request, and adds attributes."""


class Traces(Protocol):
    def request(
        self, headers: Mapping[str, str], method: str
    ) -> AbstractContextManager[Describe]: ...
    def call(self, name: str) -> AbstractContextManager[None]:
        """A call of a service on behalf of the request."""

    def close(self) -> None:
        """Flushes pending spans."""


@dataclass(frozen=True)
class NoTraces:
    def request(self, headers: Mapping[str, str], method: str) -> AbstractContextManager[Describe]:
        return nullcontext(lambda name, attributes: None)

    def call(self, name: str) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        pass


def open_traces(endpoint: str) -> Traces:
    """To the collector at this URL, else at that of the environment, else none."""
    if not endpoint and not os.environ.get(ENDPOINT_VARIABLE):
        return NoTraces()
    try:
        return _SentTraces(_provider(endpoint))
    except ImportError:
        if endpoint:
            raise TracesUnavailable(extra=EXTRA) from None
        _log.warning("%s is set, but %s is not installed: no traces", ENDPOINT_VARIABLE, EXTRA)
        return NoTraces()


def _provider(endpoint: str) -> TracerProvider:
    """A provider of this service only; the global one is left to the embedding program."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "lakeguard", "service.version": _version()})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    place = f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None
    exporter = OTLPSpanExporter(endpoint=place, timeout=_TIMEOUT_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _version() -> str:
    return version("lakeguard")


@dataclass
class _SentTraces:
    provider: TracerProvider
    _tracer: Tracer = field(init=False)

    def __post_init__(self) -> None:
        self._tracer = self.provider.get_tracer("lakeguard", _version())

    @contextmanager
    def request(self, headers: Mapping[str, str], method: str) -> Iterator[Describe]:
        """The span continues the trace of the ``traceparent`` header."""
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier = {name: headers[name] for name in ("traceparent",) if name in headers}
        parent = TraceContextTextMapPropagator().extract(carrier)
        with self._tracer.start_as_current_span(
            "request",
            parent,
            SpanKind.SERVER,
            {"http.request.method": method},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            yield _describing(span)

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        from opentelemetry.trace import StatusCode

        with self._tracer.start_as_current_span(
            f"call {name}", record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise

    def close(self) -> None:
        self.provider.shutdown()


def _describing(span: Span) -> Describe:
    from opentelemetry.trace import StatusCode

    def describe(name: str, attributes: Mapping[str, Any]) -> None:
        span.update_name(name)
        span.set_attributes(dict(attributes))
        if attributes.get("http.response.status_code", 0) >= _SERVER_ERROR:
            span.set_status(StatusCode.ERROR)

    return describe
