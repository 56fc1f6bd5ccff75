"""Jobs refer to existing jobs and datasets, without cycles."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.registry.files.job_settings import read_controls
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.jobs import CatchUp, CronTrigger
from tests.support.projects.job_graphs import (
    LOAD,
    REPORT,
    job,
    world,
)


def python_job(name: str, **config: str) -> JobDefinition:
    return job(name, type="python", config={"call": "a.b:c", **config})


def mistakes(*jobs: JobDefinition) -> list[tuple[str, str, Any]]:
    with pytest.raises(InvalidDefinitions) as refused:
        make_plan(world(jobs=jobs), RegistryState())
    return [(error.code, str(error), error.fields.get("at")) for error in refused.value.errors]


def test_jobs_that_wait_for_each_other() -> None:
    first, second = python_job("first", after="second"), python_job("second", after="first")
    assert mistakes(first, second) == [
        ("LG-2038", "job cycle: first → second → first", ["config", "after"])
    ]


def test_a_job_that_does_not_exist() -> None:
    assert mistakes(LOAD, python_job("second", after="lod")) == [
        ("LG-2007", "job 'lod' does not exist; did you mean load?", ["config", "after"])
    ]


@pytest.mark.parametrize("key", ["on_update", "on_update_any"])
def test_a_dataset_that_does_not_exist(key: str) -> None:
    given = {key: "bronze.numbers, bronze.number"}
    assert mistakes(python_job("second", **given)) == [
        (
            "LG-2007",
            "dataset 'bronze.number' does not exist; did you mean bronze.numbers?",
            ["config", key],
        )
    ]


def test_settings_of_other_systems_mean_what_ours_would() -> None:
    given = {"frequency#Type": "Daily", "trigger#EventBridge": "nightly", "stepfn#Name": "flow"}
    controls = read_controls(
        REPORT.model_copy(update={"config": {"call": "a.b:c", **given}})
    ).controls
    assert controls.cron == CronTrigger(schedule="daily", catch_up=CatchUp.LATEST)
    assert controls.event == {"resources": [{"suffix": "/nightly"}]}
    arn = "arn:aws:events:eu-central-1:1:rule/nightly"
    by_arn = python_job("report", **{"trigger#EventBridge": arn})
    assert read_controls(by_arn).controls.event == {"resources": [arn]}
    ours = python_job("report", **{**given, "schedule": "hourly", "on_event": '{"a": ["b"]}'})
    assert read_controls(ours).controls.cron == CronTrigger(schedule="hourly")
    assert read_controls(ours).controls.event == {"a": ["b"]}


@pytest.mark.parametrize(
    ("given", "active"), [("ENABLED", True), ("false", False), ("Inactive", False), ("1", True)]
)
def test_its_own_setting_switches_a_job(given: str, active: bool) -> None:
    assert read_controls(python_job("x", **{"status#ActiveConfig": given})).active is active


def test_other_systems_may_say_that_there_is_no_schedule() -> None:
    reading = read_controls(python_job("x", **{"frequency#Type": "ON_DEMAND"}))
    assert (reading.controls.cron, reading.mistakes) == (None, ())


@pytest.mark.parametrize(
    ("type_", "config", "given"),
    [
        ("pyhton", {"call": "jobs:main"}, "but have call; did you mean python?"),
        ("biuld", {"schedule": "0 2 * * *"}, "but have schedule; did you mean build?"),
        ("glue", {"after": "first", "url": "https://x.example"}, "but have after, url"),
    ],
)
def test_a_job_of_a_type_that_nothing_here_runs_starts_nothing(
    type_: str, config: dict[str, str], given: str
) -> None:
    (mistake,) = read_controls(JobDefinition(job="x", type=type_, config=config)).mistakes
    message = f"jobs of type {type_} cannot be run here, {given}"
    assert (mistake.key, mistake.problem) == ("type", message)


def test_a_job_of_another_system_is_kept_for_the_catalogue() -> None:
    config = {"frequency#Type": "daily", "trigger#EventBridge": "nightly", "team#cost": "7"}
    assert read_controls(JobDefinition(job="x", type="glue", config=config)).mistakes == ()
