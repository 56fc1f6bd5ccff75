"""Figures for Prometheus, by what happens in the project."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lakeguard.http.listen_address import parse_place
from lakeguard.http.metrics import ServiceMetrics
from lakeguard.service_plane import open_service
from lakeguard.services.service_figures import FigureSource
from lakeguard_sdk.model.run import Failure
from tests.support.fakes.asked_app import AskedApp, numbers_app
from tests.support.lakes.policy_datasets import opened
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.projects import numbers_project

ROOT = Path(__file__).parents[3]
FAILED = Failure(code="LG-5001", message="no", retryable=False)
LOST = Failure(code="LG-4003", message="its lease is over", retryable=True)


@pytest.fixture
def app(tmp_path: Path) -> AskedApp:
    return numbers_app(tmp_path)


def shown(app: AskedApp) -> dict[str, float]:
    lines = app.send("GET", "/metrics").text.splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


def test_runs_and_lost_leases_are_counted_since_the_service_started(tmp_path: Path) -> None:
    run_by_hand(numbers_project(tmp_path), [1])
    app = AskedApp(open_service(str(tmp_path), parse_place("127.0.0.1:8600")))
    client = app.service.client
    for failure in (FAILED, LOST):
        client.runs.fail_run(opened(client).ticket, failure)
    run_by_hand(client, [2])
    after = shown(app)
    assert after['lakeguard_runs_total{status="SUCCESS"}'] == 1
    run_by_hand(client, [3])
    assert shown(app)['lakeguard_runs_total{status="SUCCESS"}'] == 2
    assert after['lakeguard_runs_total{status="FAILED"}'] == 2
    assert after["lakeguard_lost_leases_total"] == 1
    assert after['lakeguard_published_age_seconds{dataset="bronze.numbers"}'] >= 0


def test_leases_that_are_over_are_shown_until_somebody_ends_them(app: AskedApp) -> None:
    opened(app.service.client)
    figures = app.service.figures
    assert isinstance(figures, FigureSource)
    assert figures().expired_leases == 0
    state = figures.state
    later = replace(state, clock=lambda: state.clock() + timedelta(hours=1))
    assert replace(figures, state=later)().expired_leases == 1


def test_a_decision_has_a_time_of_its_own() -> None:
    metrics = ServiceMetrics(None)
    metrics.ended("runs.submit_evidence", 200, 0.2)
    metrics.ended("runs.submit_evidence", 409, 9.0)
    metrics.ended("reader.datasets", 200, 9.0)
    text = metrics.text().decode()
    assert "lakeguard_decision_seconds_count 1.0" in text
    assert "lakeguard_decision_seconds_sum 0.2" in text


def test_every_metric_is_documented(app: AskedApp) -> None:
    client = app.service.client
    run_by_hand(client, [1])
    app.get("/datasets")
    described = app.send("GET", "/metrics").text
    names = set(re.findall(r"^# TYPE (\w+) (?:counter|gauge|histogram)$", described, re.MULTILINE))
    names = {name for name in names if not name.endswith("_created")}
    page = (ROOT / "docs" / "how-to" / "service.md").read_text("utf-8")
    documented = set(re.findall(r"`(lakeguard_\w+)`", page))
    assert names == documented
