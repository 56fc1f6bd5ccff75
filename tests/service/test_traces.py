"""Traces of a service, sent to a collector over a real socket."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.http.traces import NoTraces, open_traces
from lakeguard.service_plane import open_service
from lakeguard_sdk.api.connection import connect_remote
from lakeguard_sdk.errors import TracesUnavailable
from tests.support.fakes.trace_collector import trace_collector
from tests.support.projects.projects import numbers_project

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture(autouse=True)
def over_http() -> None:
    """These tests start their own services."""


@contextmanager
def served(folder: Path, collector: str = "") -> Iterator[str]:
    numbers_project(folder)
    file = folder / "lakeguard.toml"
    settings = f'traces = "{collector}"' if collector else ""
    file.write_text(f"{file.read_text()}\n[env.dev.service]\n{settings}\n")
    service = open_service(str(folder), parse_place("127.0.0.1:0"))
    with serving(create_app(service), listen(service)) as listener:
        yield listener.url


def attributes(span: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
    }


def test_a_request_and_its_call_are_spans_without_values(tmp_path: Path) -> None:
    with trace_collector() as collector:
        with served(tmp_path, collector.url) as url:
            headers = {
                "traceparent": f"00-{TRACE}-{CALLER}-01",
                "X-Request-Id": "r-1",
                "X-Other": "hidden-header",
            }
            path = "/api/v1/runs/run_17?x=hidden-query"
            assert httpx.get(url + path, headers=headers).status_code == 422
            assert httpx.get(f"{url}/api/v1/runs/run_17", headers=headers).status_code == 404
            connect_remote(url).ledger.verify()
        spans = collector.spans()
        assert b"hidden" not in b"".join(collector.bodies)
    named = {span.name: span for span in spans}
    asked, called = (
        [span for span in spans if span.name == "reader.run"][-1],
        named["call reader.run"],
    )
    assert (asked.trace_id.hex(), asked.parent_span_id.hex()) == (TRACE, CALLER)
    assert (called.trace_id, called.parent_span_id) == (asked.trace_id, asked.span_id)
    assert attributes(asked) == {
        "http.request.method": "GET",
        "http.response.status_code": 404,
        "lakeguard.request_id": "r-1",
        "lakeguard.organisation": "default",
        "lakeguard.run_id": "run_17",
    }
    assert attributes(called) == {"error.type": "UnknownRun"}
    long, work = named["ledger.verify"], named["call ledger.verify"]
    assert work.parent_span_id == long.span_id


def test_a_collector_that_is_away_stops_nobody(tmp_path: Path) -> None:
    with served(tmp_path, "http://127.0.0.1:1") as url:
        assert httpx.get(f"{url}/api/v1/datasets").status_code == 200


def test_nothing_is_imported_unless_it_is_configured(tmp_path: Path) -> None:
    numbers_project(tmp_path)
    script = (
        "import sys\n"
        "from lakeguard.http.app import create_app\n"
        "from lakeguard.http.listen_address import parse_place\n"
        "from lakeguard.service_plane import open_service\n"
        "create_app(open_service(sys.argv[1], parse_place('127.0.0.1:0')))\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"


def test_without_the_extra_a_setting_is_refused_and_a_variable_is_not(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(TracesUnavailable, match="traces"):
        open_traces("http://127.0.0.1:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    assert open_traces("") == NoTraces()
    assert "not installed" in caplog.text
