"""The service with 5,000 datasets on PostgreSQL; it asks for tokens.

Environment, for a quick look: ``BENCH_DATASETS`` and ``BENCH_LOAD_SECONDS``.
"""

from __future__ import annotations

import os
import shutil

from bench.figures import SCRATCH, Figure
from bench.service import crowding, load
from bench.service.crowding import crowding_figures
from bench.service.deciding import deciding_figures
from bench.service.load import load_figures
from bench.service.reading import reading_figures
from bench.service.rig import make_project, served, two_domains
from bench.service.workers import SCHEMA, worker_figures
from tests.support.databases.databases import Server

NAME = "service"
DATASETS = int(os.environ.get("BENCH_DATASETS", "5000"))
LOAD_SECONDS = float(os.environ.get("BENCH_LOAD_SECONDS", load.SECONDS))


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    server = Server(durable=True)
    server.start()
    try:
        return [*_registered(server), *_crowded(server), *_working(server)]
    finally:
        server.remove()
        shutil.rmtree(SCRATCH, ignore_errors=True)


def _registered(server: Server) -> list[Figure]:
    project = make_project(server, SCRATCH / NAME, "lakeguard")
    registry = project.connect().registry
    registry.apply(registry.plan(two_domains(DATASETS)))
    server.sql("VACUUM ANALYZE")
    print(f"{NAME}: {DATASETS:,} datasets are registered", flush=True)
    with served(project) as service:
        figures = reading_figures(project, service)
        figures += deciding_figures(project, service)
    with served(project) as service:
        return [*figures, *load_figures(project, service, seconds=LOAD_SECONDS)]


def _crowded(server: Server) -> list[Figure]:
    folder = SCRATCH / f"{NAME}-crowded"
    project = make_project(server, folder, "crowded", crowding.LIMITS)
    registry = project.connect().registry
    registry.apply(registry.plan(two_domains(min(DATASETS, 100))))
    with served(project) as service:
        return crowding_figures(project, service)


def _working(server: Server) -> list[Figure]:
    project = make_project(server, SCRATCH / f"{NAME}-workers", SCHEMA)
    with served(project) as service:
        return worker_figures(server, project, service)
