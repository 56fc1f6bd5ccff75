"""A project whose definitions are rows, loaded as `lakeguard load` does, and what its tables show.

One bronze dataset of numbers; runs are measured by hand and published for real.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select

from lakeguard.plane import open_state
from lakeguard.registry.rows import read_rows
from lakeguard.registry.rows.assemble import Assembly
from lakeguard.registry.text.problems import Findings
from lakeguard.settings import load_settings
from lakeguard.state.schema import metadata
from lakeguard.state.views.view_metadata import view_metadata
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.expressions.measures import CountIf, measure_key
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.plan import Applied
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

SYSTEM = """
INSERT INTO source_systems (source_system_id, source_name, source_type, active, secret_reference)
    VALUES (1, 'Number Feed', 'CSV', 1, 'env:FEED_TOKEN');
INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES (1, 'path', 'numbers/*.csv');
"""
OBJECT = """
INSERT INTO source_objects (source_object_id, source_system_id, object_name, layer, load_type,
    owner, domain, dq_enabled, dq_fail_behavior)
    VALUES (7, 1, 'Numbers', 'BRONZE', 'FULL', 'tests', 'test', 1, 'WARN');
"""
COLUMN = """
INSERT INTO source_object_columns (source_object_id, column_name, ordinal_position, data_type,
    is_nullable, dq_rule_set, dq_severity)
    VALUES (7, 'N', 1, 'bigint', 0, '[{"rule": "VALID_VALUES", "values": [1, 2]}]', 'WARN');
"""
ROWS = SYSTEM + OBJECT + COLUMN
SILVER = """
INSERT INTO dataset_registry (dataset_id, dataset_name, domain, layer, owner, parents, sql_text,
    columns) VALUES (8, 'numbers', 'test', 'silver', 'tests', '["bronze.numbers"]',
    'SELECT n FROM bronze.numbers', '[{"name": "n", "type": "long"}]');
INSERT INTO quality_rules (rule_id, dataset_id, rule_type, rule_expression)
    VALUES ('QR-1', 8, 'NOT_NULL', 'n');
"""


def rows_project(folder: Path, text: str = ROWS) -> Client:
    client = make_project(folder, Definitions())
    load(client, folder, text)
    return client


def load(client: Client, folder: Path, text: str) -> Applied:
    path = folder / "rows.sql"
    path.write_text(text, "utf-8")
    findings = Findings()
    registry, rows = client.registry, read_rows([path], findings)
    assembly = Assembly(rows, registry.definitions(), findings, registry.dataset_ids())
    assert not findings.errors(), [str(error) for error in findings.errors()]
    plan = client.registry.plan(assembly.definitions)
    return client.registry.apply(plan, given=assembly.given)


def judged(client: Client, failing: int = 0, name: DatasetName = NUMBERS) -> Decision:
    """A run of two numbers, of which so many fail each rule; published where it is allowed."""
    task = client.operations.submit(name, "ada")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan), plan
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [1, 2])
    counts = {measure_key(m): failing for m in plan.measures if isinstance(m, CountIf)}
    measured = {"measures": {**evidence.measures, **counts}}
    decision = client.runs.submit_evidence(plan.ticket, evidence.model_copy(update=measured))
    if decision.allowed:
        commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
        client.runs.complete_move(plan.ticket, commit)
    return decision


def shown(folder: Path, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a table or view of the State, by these columns or all."""
    database = open_state(load_settings(folder))
    source = view_metadata.tables.get(table)
    found = metadata.tables[table] if source is None else source
    with database.read() as connection:
        query = select(*(found.c[name] for name in columns)) if columns else select(found)
        rows = [tuple(row) for row in connection.execute(query)]
    database.close()
    return rows
