"""The build hash covers what a build does, not what it read."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.evidence import InputVersion, VersionPosition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import (
    FrameBuild,
    InputPin,
    PythonBuild,
    RunPlan,
    RunTicket,
    SourceBuild,
    TableSnapshot,
)
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.pipeline import run_dataset as hashing
from openlaketx.pipeline.run_dataset import build_hash

SCHEMA = TableSchema(columns=(Column(name="n", type="long"),))
CODE = PythonBuild(file="jobs/clean.py", function="build", sha256="a" * 64, inputs={})
SOURCE = SourceBuild(source="orders", format=SourceFormat.CSV, path="in/*.csv")


def hashed(build: Any = CODE, **changed: Any) -> str:
    fields = {
        "ticket": RunTicket(run_id="run_1", task_id="task_1", attempt=1, lease_token="x"),
        "dataset": DatasetName("silver.orders"),
        "dataset_id": "ds_1",
        "lease_seconds": 120.0,
        "load": LoadType.FULL,
        "declared": SCHEMA,
        "build": build,
        "measures": (),
        "location": "silver/orders",
        "base": None,
        "staging": "runs/run_1",
        "definition_hash": "sha256:0",
    }
    return build_hash(RunPlan(**{**fields, **changed}))


def pinned(version: int) -> InputPin:
    return InputPin(
        input=InputVersion(
            dataset=DatasetName("bronze.orders"), dataset_id="ds_0", version=version
        ),
        snapshot=TableSnapshot(location="bronze/orders", table_id="t", commit=version),
        table_schema=SCHEMA,
    )


@pytest.mark.parametrize(
    "other",
    [
        {"build": CODE.model_copy(update={"sha256": "b" * 64})},
        {"build": CODE.model_copy(update={"function": "other"})},
        {"build": CODE.model_copy(update={"file": "jobs/other.py"})},
        {"build": FrameBuild()},
        {"build": SOURCE},
        {"load": Load(type=LoadType.APPEND)},
        {"load": Load(type=LoadType.INCREMENTAL, keys=("n",))},
        {"transform": "SELECT * FROM batch"},
        {"partition_by": ("n",)},
        {"declared": TableSchema(columns=(Column(name="n", type="double"),))},
    ],
    ids=lambda other: "-".join(str(value)[:40] for value in other.values()),
)
def test_other_code_or_settings_are_another_build(other: dict[str, Any]) -> None:
    assert hashed(**other) != hashed()


def test_other_settings_of_spark_are_another_build(monkeypatch: pytest.MonkeyPatch) -> None:
    before = hashed()
    changed = {**hashing.RUN_SETTINGS, "spark.sql.ansi.enabled": "false"}
    monkeypatch.setattr(hashing, "RUN_SETTINGS", changed)
    assert hashed() != before


def test_what_is_read_and_where_it_stopped_is_the_same_build() -> None:
    assert hashed(CODE.model_copy(update={"inputs": {"bronze.orders": pinned(7)}})) == hashed()
    read = SOURCE.model_copy(update={"position": VersionPosition(version=1, files=1)})
    assert hashed(read) == hashed(SOURCE)
    ticket = RunTicket(run_id="run_2", task_id="task_2", attempt=3, lease_token="y")
    assert hashed(ticket=ticket, staging="runs/run_2", location="elsewhere") == hashed()
