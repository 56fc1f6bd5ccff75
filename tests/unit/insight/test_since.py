"""What differs between two runs, by name; what only one of them knows is not compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lakeguard.insight.comparison.since import RunCase, differences, file_changes
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import FromPython
from lakeguard_sdk.model.evidence import (
    Evidence,
    InputVersion,
    SourceFile,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import (
    FrameBuild,
    InputPin,
    RunPlan,
    RunTicket,
    SqlBuild,
    TableSnapshot,
)
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.cases.models import BRONZE, FLIGHTS, definition

SCHEMA = TableSchema(columns=(Column(name="n", type="long"),))
EVIDENCE = Evidence(
    run_id="run_1",
    dataset=FLIGHTS,
    table_schema=SCHEMA,
    rows=1,
    table_rows=1,
    files=(),
    removes=(),
    base_commit=None,
    measures={},
    inputs=(),
    build_hash="sha256:0",
    engine="duckdb",
)
PLAN = RunPlan(
    ticket=RunTicket(run_id="run_1", task_id="tsk_1", attempt=1, lease_token=""),
    dataset=FLIGHTS,
    dataset_id="ds_1",
    lease_seconds=120,
    load=Load(type=LoadType.FULL),
    declared=SCHEMA,
    build=SqlBuild(text="SELECT 1", views={}),
    measures=(),
    location="silver/flights",
    base=None,
    staging="runs/run_1",
    definition_hash="sha256:d",
)
CASE = RunCase(
    definition=definition(),
    rules=(),
    policies=(),
    inputs={},
    plan=PLAN,
    live=SCHEMA,
    evidence=EVIDENCE,
    semantics=2,
)


def referring(version: int) -> RunPlan:
    pin = InputPin(
        input=InputVersion(dataset=BRONZE, dataset_id="ds_0", version=version),
        snapshot=TableSnapshot(location="b", table_id="t", commit=version),
        table_schema=SCHEMA,
    )
    return PLAN.model_copy(update={"references": (pin,)})


def built(**given: Any) -> RunCase:
    python = FromPython(file="etl.py", function="build", sha256="a" * 64)
    code = python.model_copy(update=given)
    return replace(CASE, definition=definition().model_copy(update={"build": code}))


def described(before: RunCase, after: RunCase) -> list[str]:
    return [f"{d.subject} {d.name}: {d.before} -> {d.after}" for d in differences(before, after)]


OTHER_BUILD = EVIDENCE.model_copy(update={"build_hash": "sha256:1"})
HANDS = "engine the data plane: as it was -> another version of it, or other settings of Spark"


@pytest.mark.parametrize(
    ("before", "after", "given"),
    [
        (CASE, CASE, []),
        (built(), built(sha256="b" * 64), ["build the Python code: as it was -> changed"]),
        (
            built(),
            built(function="make"),
            ["build the Python function: build -> make"],
        ),
        (
            replace(CASE, plan=referring(1)),
            replace(CASE, plan=referring(2)),
            ["reference bronze.flights: v1 -> v2"],
        ),
        (
            CASE,
            replace(CASE, plan=PLAN.model_copy(update={"transform": "SELECT * FROM batch"})),
            ["build the transform of its target: as it was -> changed"],
        ),
        (CASE, replace(CASE, semantics=3), ["engine semantics of the gate: 2 -> 3"]),
        (CASE, replace(CASE, evidence=OTHER_BUILD), [HANDS]),
        (
            built(),
            replace(built(sha256="b" * 64), evidence=OTHER_BUILD),
            ["build the Python code: as it was -> changed"],
        ),
        (
            replace(CASE, plan=PLAN.model_copy(update={"build": FrameBuild()})),
            replace(CASE, evidence=OTHER_BUILD),
            [],
        ),
        (
            replace(CASE, inputs={"ds_0": ("bronze.old_name", 1)}),
            replace(CASE, inputs={"ds_0": ("bronze.flights", 1)}),
            [],
        ),
        (
            replace(CASE, inputs={"ds_0": ("bronze.flights", 1)}),
            replace(CASE, inputs={"ds_0": ("bronze.flights", None), "ds_9": ("bronze.new", 4)}),
            [
                "input bronze.flights: v1 -> not published",
                "input bronze.new: None -> v4",
            ],
        ),
        (CASE, replace(CASE, plan=None, live=None, evidence=None, semantics=None), []),
    ],
)
def test_differences(before: RunCase, after: RunCase, given: list[str]) -> None:
    assert described(before, after) == given


def test_a_touched_file_is_the_same_and_one_of_unknown_content_goes_by_its_time() -> None:
    def changed(old: dict[str, Any], new: dict[str, Any]) -> bool:
        file = SourceFile(path="a.csv", size=1, modified_ms=1, sha256="x")
        found = file_changes([file.model_copy(update=old)], [file.model_copy(update=new)])
        assert (found.new, found.gone) == (None, None)
        return found.changed is not None

    assert not changed({}, {"modified_ms": 2})
    assert changed({}, {"sha256": "y"})
    assert changed({"sha256": ""}, {"modified_ms": 2})
    assert changed({}, {"size": 2})
