"""The benchmark of the service, small: no error, and no growth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.service.crowding import LIMITS, crowding_figures
from bench.service.deciding import deciding_figures
from bench.service.load import load_figures
from bench.service.reading import reading_figures
from bench.service.rig import Project, Served, make_project, served, two_domains
from bench.service.workers import SCHEMA, worker_figures
from tests.support.databases.databases import Server


@pytest.fixture(scope="module")
def durable() -> Iterator[Server]:
    server = Server(durable=True)
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def project(durable: Server, tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = make_project(durable, tmp_path_factory.mktemp("service") / "project", "lakeguard")
    registry = made.connect().registry
    registry.apply(registry.plan(two_domains(60)))
    return made


@pytest.fixture(scope="module")
def service(project: Project) -> Iterator[Served]:
    with served(project) as running:
        yield running


def test_lists_and_searches_have_bars(project: Project, service: Served) -> None:
    figures = reading_figures(project, service, asked=8)
    assert [figure.bar for figure in figures] == [100.0, None] * 4
    assert all(figure.value > 0 for figure in figures)


def test_decisions_are_made_on_both_ways(project: Project, service: Served) -> None:
    over_http, direct, ratio = deciding_figures(project, service, decisions=8, rounds=1)
    assert ratio.value == pytest.approx(over_http.value / direct.value)
    assert (over_http.bar, ratio.bar, ratio.least) == (100.0, 0.7, True)


def test_workers_complete_all_tasks_on_both_ways(durable: Server, tmp_path: Path) -> None:
    project = make_project(durable, tmp_path / "workers", SCHEMA)
    with served(project) as running:
        over_http, direct, ratio = worker_figures(
            durable, project, running, processes=(1,), tasks=12, rounds=1
        )
    assert ratio.value == pytest.approx(over_http.value / direct.value)
    assert (ratio.bar, ratio.least) == (0.7, True)


def test_fifty_clients_see_no_error_and_the_service_does_not_grow(project: Project) -> None:
    with served(project) as running:
        errors, growth, _, rate, _ = load_figures(project, running, seconds=20.0)
    assert errors.value == 0
    assert growth.value < 1.5, "a leak of each answer would be more"
    assert rate.value > 0


def test_a_caller_above_the_limit_is_refused_and_another_is_not(
    durable: Server, tmp_path: Path
) -> None:
    """What the other one waits is measured by the benchmark, on a quiet machine."""
    project = make_project(durable, tmp_path / "crowded", "crowded", LIMITS)
    registry = project.connect().registry
    registry.apply(registry.plan(two_domains(20)))
    with served(project) as running:
        refused, others, ratio = crowding_figures(project, running, asked=20)
    assert refused.value > 0
    assert (others.value, ratio.bar) == (0, 2.0)
