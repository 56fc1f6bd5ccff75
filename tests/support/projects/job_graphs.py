"""A small world of jobs for tests: numbers from a source, doubles of them, and two jobs that build
nothing here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    FromSql,
    JobDefinition,
    SourceDefinition,
    SourceMapping,
    TargetDefinition,
)
from lakeguard_sdk.model.load import Load
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project
from tests.support.projects.running_tasks import make_context

DOUBLES = DatasetName("silver.doubles")
_COLUMNS = (ColumnDefinition(name="n", type="long"),)


def source(**given: Any) -> SourceDefinition:
    usual = {"source": "numbers", "format": SourceFormat.PARQUET, "path": "in"}
    return SourceDefinition(**{**usual, **given})


def target(**given: Any) -> TargetDefinition:
    usual = {"target": "lake", "location": "zones/raw", "zone": "landing"}
    return TargetDefinition(**{**usual, "sources": (SourceMapping(source="numbers"),), **given})


def numbers(**given: Any) -> DatasetDefinition:
    usual: dict[str, Any] = {
        "dataset": NUMBERS,
        "domain": "test",
        "owner": "tests",
        "build": FromSource(source="numbers"),
        "load": Load(type=LoadType.FULL),
        "target": "lake",
        "columns": _COLUMNS,
    }
    return DatasetDefinition(**{**usual, **given})


def doubles(**given: Any) -> DatasetDefinition:
    text = "select 2 * n as n from bronze.numbers"
    usual: dict[str, Any] = {
        "dataset": DOUBLES,
        "domain": "test",
        "owner": "tests",
        "parents": (NUMBERS,),
        "build": FromSql(file="sql/doubles.sql", text=text),
        "load": Load(type=LoadType.FULL),
        "columns": _COLUMNS,
    }
    return DatasetDefinition(**{**usual, **given})


def job(name: str, **given: Any) -> JobDefinition:
    return JobDefinition(**{"job": name, **given})


LOAD = job("load", dataset=NUMBERS)
DOUBLE = job("double", dataset=DOUBLES, config={"after": "load"})
REPORT = job("report", type="python", config={"call": "jobs.report:main"})
SHELL = job("shell", type="shell")


def world(**given: Any) -> Definitions:
    usual: dict[str, Any] = {
        "sources": (source(),),
        "targets": (target(),),
        "datasets": (numbers(), doubles()),
        "jobs": (LOAD, DOUBLE, REPORT, SHELL),
    }
    return Definitions(**{**usual, **given})


def deployed_world(folder: Path, **given: Any) -> Client:
    client = make_project(folder, world(**given))
    client.jobs.deploy("tests")
    return client


def deployed_heart(
    database: Database, folder: Path, definitions: Definitions, org_id: str = "default"
) -> PlaneContext:
    """Applied and deployed, for tests below the ports."""
    context = make_context(database, folder, org_id=org_id)
    with OrganisationState.of(database, org_id).write() as tx:
        plan = make_plan(definitions, read_state(tx))
        apply_plan(tx, plan, "tester", context.clock())
    EmbeddedJobs(context).deploy("tests")
    return context


def revise(client: Client, *definitions: Any) -> None:
    """One more revision of each."""
    kinds = {"source": "sources", "target": "targets", "dataset": "datasets", "job": "jobs"}
    kinds["policy"] = "policies"
    given: dict[str, Any] = {}
    for definition in definitions:
        given.setdefault(kinds[definition.kind], []).append(definition)
    client.registry.apply(client.registry.plan(Definitions(**given)))
