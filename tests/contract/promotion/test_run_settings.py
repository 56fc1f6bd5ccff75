"""Settings of a run come from rows: nearest wins, what is disabled blocks by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard.promotion.opening.run_settings import Bundle, resolve_bundle
from lakeguard.state.database import Database
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import (
    LoadType,
    RunStatus,
    SourceFormat,
    TargetFormat,
)
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    JobDefinition,
    SourceDefinition,
    SourceMapping,
    TargetDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan, RunResult, SourceBuild
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

COLUMNS = (ColumnDefinition(name="n", type="long"), ColumnDefinition(name="p", type="string"))


def source(**given: Any) -> SourceDefinition:
    usual = {"source": "numbers", "format": SourceFormat.PARQUET, "path": "in"}
    return SourceDefinition(**{**usual, **given})


def target(**given: Any) -> TargetDefinition:
    usual = {"target": "lake", "location": "zones/raw", "zone": "landing"}
    return TargetDefinition(**{**usual, "sources": (SourceMapping(source="numbers"),), **given})


def job(**given: Any) -> JobDefinition:
    return JobDefinition(**{"job": "nightly", "dataset": NUMBERS, **given})


def dataset(**given: Any) -> DatasetDefinition:
    usual: dict[str, Any] = {
        "dataset": NUMBERS,
        "domain": "test",
        "owner": "tests",
        "build": FromSource(source="numbers", object="day=*/*.parquet"),
        "load": Load(type=LoadType.FULL),
        "target": "lake",
        "columns": COLUMNS,
    }
    return DatasetDefinition(**{**usual, **given})


def definitions(**given: Any) -> Definitions:
    usual: dict[str, Any] = {
        "sources": (source(),),
        "targets": (target(),),
        "jobs": (job(),),
        "datasets": (dataset(),),
    }
    return Definitions(**{**usual, **given})


def revise(client: Client, **given: Any) -> None:
    client.registry.apply(client.registry.plan(definitions(**given)))


def opened(client: Client) -> RunPlan | RunResult:
    return client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))


def planned(client: Client) -> RunPlan:
    plan = opened(client)
    assert isinstance(plan, RunPlan)
    return plan


def refused(client: Client) -> str:
    result = opened(client)
    assert isinstance(result, RunResult)
    assert result.status is RunStatus.BLOCKED
    assert result.decision is not None
    return "\n".join(result.decision.ruling.reasons)


def test_what_stands_nearer_to_the_run_wins() -> None:
    layers = {
        "job": ["a"],
        "job config": ["a", "b"],
        "dataset": ["a", "b", "c"],
        "target": ["a", "b", "c", "d"],
        "source": ["a", "b", "c", "d", "e"],
    }
    given = {name: dict.fromkeys(keys, name) for name, keys in layers.items()}
    found = resolve_bundle(
        job(details=given["job"], config=given["job config"]),
        dataset(details=given["dataset"]),
        target(details=given["target"]),
        source(details=given["source"]),
    )
    wanted = dict(zip("abcde", layers, strict=True))
    assert found.values == found.origins == wanted
    alone = resolve_bundle(None, dataset(details={"x": "1"}), None, None)
    assert (alone.values, alone.origins) == ({"x": "1"}, {"x": "dataset"})


def test_the_bundle_is_stored_with_the_run_by_its_hash(tmp_path: Path) -> None:
    details = {"secret": "env:TOKEN", "batch": "10"}
    client = make_project(
        tmp_path,
        definitions(targets=(target(details=details),), jobs=(job(details={"batch": "20"}),)),
    )
    plan = planned(client)
    assert plan.settings == {"secret": "env:TOKEN", "batch": "20"}
    database = Database(f"sqlite:///{tmp_path}/.lakeguard/state.db")
    with database.read() as connection:
        body = connection.exec_driver_sql(
            "SELECT d.body FROM run_openings o JOIN documents d ON d.content_hash = o.bundle_hash"
            f" WHERE o.run_id = '{plan.ticket.run_id}'"
        ).scalar_one()
    database.close()
    kept = Bundle.from_json(body)
    assert kept.values == plan.settings
    assert kept.origins == {"secret": "target", "batch": "job"}
    assert (kept.job, kept.target) == (job(details={"batch": "20"}), target(details=details))


def test_a_changed_row_changes_the_next_run(tmp_path: Path) -> None:
    client = make_project(tmp_path, definitions())
    first = planned(client)
    assert (first.format, first.partition_by, first.transform) == (TargetFormat.DELTA, (), "")
    changed = target(
        format=TargetFormat.CSV, partition_by=("p",), transform="SELECT * FROM batch WHERE n > 0"
    )
    revise(client, targets=(changed,))
    then = planned(client)
    assert (then.format, then.partition_by) == (TargetFormat.CSV, ("p",))
    assert then.transform == changed.transform
    revise(
        client,
        targets=(changed,),
        datasets=(dataset(load=Load(type=LoadType.FULL, partition_by=("n",))),),
    )
    assert planned(client).partition_by == ("n",), "the dataset's own load is nearer"


def test_the_object_of_a_source_is_below_its_path(tmp_path: Path) -> None:
    client = make_project(tmp_path, definitions())
    build = planned(client).build
    assert isinstance(build, SourceBuild)
    assert build.path == "in/day=*/*.parquet"


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"targets": (target(active=False),)}, "target lake is disabled"),
        ({"jobs": (job(active=False),)}, "job nightly is disabled"),
        (
            {"targets": (target(sources=(SourceMapping(source="numbers", active=False),)),)},
            "the mapping numbers → lake is disabled",
        ),
        ({"sources": (source(active=False),)}, "source numbers is disabled"),
    ],
)
def test_what_is_disabled_blocks_the_run_by_name(
    tmp_path: Path, change: dict[str, Any], about: str
) -> None:
    client = make_project(tmp_path, definitions())
    planned(client)
    revise(client, **change)
    assert about in refused(client)
    assert not (tmp_path / "zones").exists(), "no byte was staged"


def test_a_job_that_only_names_the_dataset_has_no_say_in_its_runs(tmp_path: Path) -> None:
    about = job(
        job="about",
        type="python",
        active=False,
        config={"call": "a.b:c", "labels": "gpu"},
        details={"batch": "1"},
    )
    client = make_project(tmp_path, definitions(jobs=(about,)))
    plan = planned(client)
    assert plan.settings == {}
    assert client.jobs.task(plan.ticket.task_id).job is None
    revise(client, jobs=(job(job="about", details={"batch": "2"}),))
    plan = planned(client)
    assert plan.settings == {"batch": "2"}
    assert client.jobs.task(plan.ticket.task_id).job == "about"


def test_a_target_cannot_partition_by_a_column_that_its_datasets_lack(tmp_path: Path) -> None:
    client = make_project(tmp_path, definitions())
    with pytest.raises(InvalidDefinitions) as refusal:
        revise(client, targets=(target(partition_by=("nothing",)),))
    assert "nothing" in str(refusal.value.errors[0])


@pytest.mark.parametrize("kind", ["double", "timestamp", "decimal(9,2)", "binary"])
def test_a_type_that_cannot_partition_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    client = make_project(tmp_path, definitions())
    columns = (COLUMNS[0], ColumnDefinition(name="p", type=kind))
    load = Load(type=LoadType.FULL, partition_by=("p",))
    revise(client, datasets=(dataset(columns=columns, load=load),))
    assert f"column p is {kind}" in refused(client)


def test_a_table_keeps_the_partitioning_it_was_created_with(tmp_path: Path) -> None:
    narrow = dataset(columns=COLUMNS[:1])
    client = make_project(tmp_path, definitions(datasets=(narrow,)))
    revise(client, datasets=(dataset(),), targets=(target(partition_by=("p",)),))
    assert planned(client).partition_by == ("p",), "there is no table yet"
    revise(client, datasets=(narrow,))
    assert run_by_hand(client, [1]).version == 1
    revise(client, datasets=(dataset(),), targets=(target(partition_by=("p",)),))
    reported = refused(client)
    assert "bronze.numbers is not partitioned" in reported
    assert "a FULL load does not change it in place; set partition_by back to []" in reported
