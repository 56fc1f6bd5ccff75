"""Evidence to decision: the same calls over HTTP and in a process that has the database itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from bench.figures import Figure
from bench.service.rig import Project, Served
from lakeguard_sdk.api.connection import connect_remote
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.expressions.measures import MeasureValue, RowCount, measure_key
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process

RATE_BAR = 100.0
RATIO_BAR = 0.7
DECISIONS = 300
"""In one round of one side."""
ROUNDS = 3
CALLERS = 8
"""Threads of one process, on either side."""
_ROWS = 1_000
Opened = tuple[RunPlan, Evidence]


def deciding_figures(
    project: Project,
    service: Served,
    decisions: int = DECISIONS,
    rounds: int = ROUNDS,
    first: int = 0,
) -> list[Figure]:
    """Both sides in turns, from the ``first`` dataset on; either delivers to the ledger in the
    background. Runs are opened and delivered before, and end with their leases."""
    remote = connect_remote(service.url, token=project.token("decides"))
    over_http, by_itself = [], []
    with project.connect() as direct:
        names = iter([row.dataset_name for row in direct.reader.datasets()][first:])
        _rate(direct, _opened(direct, names, CALLERS))
        _rate(remote, _opened(direct, names, CALLERS))
        for _ in range(rounds):
            by_itself.append(_rate(direct, _opened(direct, names, decisions)))
            over_http.append(_rate(remote, _opened(direct, names, decisions)))
            print(f"  decisions: {over_http[-1]:,.0f}/s, direct {by_itself[-1]:,.0f}/s", flush=True)
    ratio = min(median(over_http) / median(by_itself), max(over_http) / max(by_itself))
    note = (
        f"{CALLERS} callers, each in a thread of one process; the service is another process, of"
        " whose CPU time half goes into decisions, a quarter into the ledger and a quarter into"
        " HTTP. Callers, service and PostgreSQL share two cores."
    )
    rate = median(over_http)
    return [
        Figure("evidence to decision over HTTP", rate, "/s", RATE_BAR, least=True, note=note),
        Figure("evidence to decision, direct calls", median(by_itself), "/s"),
        Figure("decisions over HTTP / direct", ratio, "x", RATIO_BAR, least=True, note=note),
    ]


def _opened(client: Client, names: Iterator[DatasetName], count: int) -> list[Opened]:
    found = []
    for _ in range(count):
        name = next(names)
        task = client.operations.submit(name, "bench")
        plan = client.runs.open_run(task, this_process("bench"))
        assert isinstance(plan, RunPlan), plan
        client.runs.submit_schema(plan.ticket, plan.declared)
        found.append((plan, evidence_of(plan)))
    client.deliver()
    return found


def evidence_of(plan: RunPlan) -> Evidence:
    """Of a batch that keeps all rules; nobody looks for its file before the move."""
    return Evidence(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        table_schema=plan.table_schema,
        rows=_ROWS,
        table_rows=_ROWS,
        files=(
            StagedFile(
                path=f"{plan.staging}/part.parquet",
                size=1,
                rows=_ROWS,
                modified_ms=1,
                stats=f'{{"numRecords":{_ROWS}}}',
                sha256="0" * 64,
            ),
        ),
        removes=(),
        inputs=(),
        base_commit=None,
        measures={measure_key(each): _value(each) for each in plan.measures},
        build_hash="sha256:0",
        engine="none",
    )


def _value(measure: object) -> MeasureValue:
    return _ROWS if isinstance(measure, RowCount) else 0


def _rate(client: Client, opened: list[Opened]) -> float:
    """Decisions in a second."""

    def decide(one: Opened) -> None:
        plan, evidence = one
        decision = client.runs.submit_evidence(plan.ticket, evidence)
        assert decision.allowed, decision.ruling.reasons

    with ThreadPoolExecutor(CALLERS) as callers:
        start = time.perf_counter()
        for _ in callers.map(decide, opened):
            pass
        return len(opened) / (time.perf_counter() - start)
