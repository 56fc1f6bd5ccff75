"""Launching: one task for each job and key, however often and by whomever it is wished."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, select

from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.open_run import open_run
from lakeguard.scheduler.graph.current_jobs import current_jobs
from lakeguard.scheduler.launch.gate_facts import read_facts
from lakeguard.scheduler.launch.launch import (
    Cause,
    CauseKind,
    LaunchRequest,
    launch,
)
from lakeguard.scheduler.launch.requests import LaunchRequest as SameRequest
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.state.database import Database
from lakeguard.state.schema import md_jobs, outbox, tasks
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import PolicyType, TaskKind, TaskState
from lakeguard_sdk.errors import KeyAlreadyUsed, LaunchInvalid, NothingToDeploy, UnknownJob
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    Definitions,
    FromSql,
    PolicyDefinition,
)
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.jobs import Launch
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.projects.job_graphs import (
    DOUBLE,
    DOUBLES,
    LOAD,
    REPORT,
    deployed_heart,
    doubles,
    job,
    numbers,
    world,
)
from tests.support.projects.planes import NUMBERS

MANY = 300
PII_FREEZE = PolicyDefinition(
    policy="holidays",
    type=PolicyType.CHANGE_FREEZE,
    expression="freeze 2026-01-01..2026-01-02",
    applies_to_tag="pii",
)
SIZED = LOAD.model_copy(update={"details": {"batch_size": "5"}})


def cron(job_id: str, key: str = "cron:1") -> LaunchRequest:
    return LaunchRequest(
        job_id=job_id, key=key, cause=Cause(kind=CauseKind.CRON), actor="trigger:cron"
    )


def heard(database: Database) -> list[str]:
    """Every statement from now on."""
    given: list[str] = []

    def hear(_: Any, __: Any, statement: str, *___: Any) -> None:
        given.append(statement)

    event.listen(database.engine, "before_cursor_execute", hear)
    return given


@pytest.fixture
def context(database: Database, tmp_path: Path) -> PlaneContext:
    return deployed_heart(database, tmp_path, world(jobs=(SIZED, DOUBLE, REPORT)))


def launched(context: PlaneContext, *requests: LaunchRequest) -> list[Launch]:
    with context.write() as tx:
        return launch(tx, context, requests)


def ids(context: PlaneContext) -> dict[str, str]:
    with context.read() as tx:
        found = current_jobs(tx).values()
    return {each.name: each.job_id for each in found}


def test_a_wish_becomes_a_task_that_knows_its_cause(context: PlaneContext) -> None:
    named = ids(context)
    given = {"region": "north"}
    wish = replace(cron(named["load"]), parameters=given, day=date(2026, 1, 31))
    assert isinstance(wish, SameRequest)
    (done,) = launched(context, wish)
    with context.read() as tx:
        (row,) = tx.execute(select(tasks)).all()
    assert (row.task_id, row.state, row.attempt) == (done.task_id, "queued", 0)
    assert (row.kind, row.job_id, row.dedupe_key) == ("build", named["load"], "cron:1")
    assert row.dataset_id != named["load"]
    assert row.parameters == '{"day": "2026-01-31", "set": {"region": "north"}}'
    assert row.cause == '{"details":{},"kind":"cron"}'
    assert row.dag_version_id == EmbeddedJobs(context).dag_versions()[0].dag_version_id
    assert row.due_at == row.created_at


def test_what_a_launch_sets_wins_over_all_other_settings_of_a_build(context: PlaneContext) -> None:
    given = {"batch_size": "7", "region": "north"}
    task = EmbeddedJobs(context).trigger("load", "ada", day=date(2026, 1, 31), set_to=given).task_id
    plan = open_run(context, task, this_process("test"))
    assert isinstance(plan, RunPlan)
    assert {key: plan.settings[key] for key in given} == given
    assert plan.settings["date"] == "2026-01-31"


def test_one_task_for_each_job_and_key(context: PlaneContext) -> None:
    named = ids(context)
    first = launched(context, cron(named["load"]), cron(named["report"]), cron(named["load"]))
    assert [each.new for each in first] == [True, True, False]
    assert first[0].task_id == first[2].task_id != first[1].task_id
    (again, other) = launched(context, cron(named["load"]), cron(named["load"], "cron:2"))
    assert (again.new, again.task_id) == (False, first[0].task_id)
    assert other.new
    assert len(EmbeddedJobs(context).tasks()) == 3


def test_a_job_that_builds_nothing_has_its_keys_for_itself(
    database: Database, tmp_path: Path
) -> None:
    """Whatever dataset it names, and whatever else is launched beside it."""
    about = job("about", type="python", dataset=NUMBERS, config={"call": "a.b:c"})
    double = job("double", dataset=DOUBLES)
    context = deployed_heart(database, tmp_path, world(jobs=(double, about)))
    named = ids(context)
    (first,) = launched(context, cron(named["about"]))
    _, again = launched(context, cron(named["double"]), cron(named["about"]))
    assert (first.new, again.new) == (True, False)
    assert first.task_id == again.task_id


def test_many_who_wish_the_same_get_one_task(context: PlaneContext) -> None:
    named = ids(context)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: launched(context, cron(named["report"]))[0], range(16)))
    assert sum(each.new for each in done) == 1
    assert len({each.task_id for each in done}) == 1


def test_many_wishes_take_a_handful_of_statements(database: Database, tmp_path: Path) -> None:
    jobs = tuple(
        job(f"job_{index}", type="python", config={"call": "a.b:c"}) for index in range(MANY)
    )
    context = deployed_heart(database, tmp_path, Definitions(jobs=jobs))
    requests = [cron(job_id) for job_id in ids(context).values()]
    given = heard(database)
    done = launched(context, *requests)
    statements = len(given)
    assert sum(each.new for each in done) == MANY
    assert statements < 25, given
    with database.read() as connection:
        rows = connection.scalar(
            select(func.count()).where(outbox.c.topic.in_(["tasks", "task_transitions"]))
        )
    assert rows == 2 * MANY


def test_tags_that_a_freeze_asks_for_take_a_handful_of_statements(
    database: Database, tmp_path: Path
) -> None:
    """Every second dataset is built of one with a tag; the policy is over those alone."""
    names = [DatasetName(f"silver.doubles_{index}") for index in range(40)]
    tagged = numbers(columns=(ColumnDefinition(name="n", type="long", tags=("pii",)),))
    plain = numbers(dataset=DatasetName("bronze.plain"))
    built = [
        doubles(
            dataset=name,
            parents=(parent.dataset,),
            build=FromSql(file=f"sql/{name}.sql", text=f"select n from {parent.dataset}"),
        )
        for name, parent in zip(names, (tagged, plain) * 20, strict=True)
    ]
    defined = world(
        datasets=(tagged, plain, *built),
        jobs=tuple(job(name.replace(".", "_"), dataset=name) for name in names),
        policies=(PII_FREEZE,),
    )
    context = deployed_heart(database, tmp_path, defined)
    with context.read() as tx:
        jobs = current_jobs(tx).values()
        given = heard(context.database)
        facts = read_facts(tx, jobs, context.clock())
    assert len(given) < 20, given
    assert set(facts.travelled) == set(names[::2])
    assert {each.tag for found in facts.travelled.values() for each in found} == {"pii"}


def test_jobs_that_are_not_to_overlap_start_once_in_a_turn(
    database: Database, tmp_path: Path
) -> None:
    alone = job("alone", type="python", config={"call": "a.b:c", "overlap": "skip"})
    context = deployed_heart(database, tmp_path, Definitions(jobs=(alone,)))
    (job_id,) = ids(context).values()
    first, second, same = launched(context, cron(job_id), cron(job_id, "cron:2"), cron(job_id))
    assert (first.state, second.state) == (TaskState.QUEUED, TaskState.BLOCKED)
    assert second.code == "LG-3329"
    assert (same.new, same.task_id) == (False, first.task_id)


def test_what_was_started_before_keeps_no_other_start_of_its_job(
    database: Database, tmp_path: Path
) -> None:
    """A key that comes again, whose task is over, is nothing that is under way."""
    alone = job("alone", type="python", config={"call": "a.b:c", "overlap": "skip"})
    context = deployed_heart(database, tmp_path, Definitions(jobs=(alone,)))
    (job_id,) = ids(context).values()
    (first,) = launched(context, cron(job_id))
    EmbeddedJobs(context).cancel(first.task_id)
    again, new, other = launched(
        context, cron(job_id), cron(job_id, "cron:2"), cron(job_id, "cron:3")
    )
    assert (again.new, again.state) == (False, TaskState.CANCELED)
    assert (new.new, new.state) == (True, TaskState.QUEUED)
    assert other.code == "LG-3329"


def test_a_day_and_values_are_a_key_and_nothing_is_none(context: PlaneContext) -> None:
    jobs = EmbeddedJobs(context)
    day, given = date(2026, 1, 31), {"a": "1"}
    first = jobs.trigger("report", "ada", day=day, set_to=given)
    assert jobs.trigger("report", "ada", day=day, set_to=given).task_id == first.task_id
    others = [
        jobs.trigger("report", "ada", day=day),
        jobs.trigger("report", "ada", day=day, set_to={"a": "2"}),
        jobs.trigger("report", "ada", key="mine"),
        jobs.trigger("report", "ada"),
        jobs.trigger("report", "ada"),
    ]
    assert all(each.new for each in others)
    assert len({first.task_id, *(each.task_id for each in others)}) == 6
    assert not jobs.trigger("report", "eve", key="mine").new


def test_a_key_stands_for_what_was_said_first(context: PlaneContext) -> None:
    jobs = EmbeddedJobs(context)
    day, given = date(2026, 1, 31), {"a": "1", "b": "x"}
    first = jobs.trigger("report", "ada", key="mine", day=day, set_to=given)
    same = jobs.trigger("report", "eve", key="mine", day=day, set_to={"b": "x", "a": "1"})
    assert (same.new, same.task_id) == (False, first.task_id)
    jobs.cancel(first.task_id)
    assert not jobs.trigger("report", "ada", key="mine", day=day, set_to=given).new
    others: list[tuple[dict[str, Any], str]] = [
        ({"day": day, "set_to": {"a": "2", "b": "x"}}, "--set a was 1 and is 2"),
        ({"day": day, "set_to": {"a": "1"}}, "--set b was x and is not set"),
        ({"set_to": given}, "--date was 2026-01-31 and is not set"),
        ({"day": day, "set_to": {**given, "c": ""}}, "--set c was not set and is empty"),
    ]
    for other, difference in others:
        with pytest.raises(KeyAlreadyUsed, match=difference) as refused:
            jobs.trigger("report", "ada", key="mine", **other)
        assert f"job report was already started with key mine as {first.task_id}" in str(
            refused.value
        )
        assert refused.value.next_step.startswith(f"lakeguard tasks show {first.task_id}")
    assert len(jobs.tasks()) == 1


def test_a_key_of_the_job_that_built_the_dataset_before_is_not_taken_for_ones_own(
    database: Database, tmp_path: Path
) -> None:
    jobs = EmbeddedJobs(deployed_heart(database, tmp_path, world(jobs=(LOAD,))))
    first = jobs.trigger("load", "ada", key="mine")
    moved = job("load", type="python", config={"call": "a.b:c"})
    other = job("other", dataset=LOAD.dataset)
    jobs = EmbeddedJobs(deployed_heart(database, tmp_path, world(jobs=(moved, other))))
    with pytest.raises(KeyAlreadyUsed, match=f"{first.task_id}.*the job was load and is other"):
        jobs.trigger("other", "ada", key="mine")


def test_a_value_of_any_length_is_told_in_short(context: PlaneContext) -> None:
    jobs = EmbeddedJobs(context)
    jobs.trigger("report", "ada", key="mine", set_to={"a": "x" * 9_000})
    with pytest.raises(KeyAlreadyUsed) as refused:
        jobs.trigger("report", "ada", key="mine", set_to={"a": "y" * 9_000})
    assert len(str(refused.value)) < 300


def test_what_is_kept_back_for_the_caller_is_due_for_no_worker(context: PlaneContext) -> None:
    jobs = EmbeddedJobs(context)
    task = jobs.task(jobs.trigger("report", "ada", here=True).task_id)
    assert (task.due_at, task.dead) == (None, "")
    assert task.worker is not None
    assert task.worker.pid == os.getpid()
    assert (task.kind, task.state) == (TaskKind.PYTHON, TaskState.QUEUED)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"set_to": {"password": "hunter2"}}, "looks like a secret"),
        ({"set_to": {"": "x"}}, "NAME=VALUE"),
        ({"set_to": {"a": "x" * 10_001}}, "longer than"),
        ({"key": " "}, "a key has"),
        ({"key": "for AKIA" + "ABCDEFGHIJKLMNOP"}, "the key looks like a secret"),
    ],
)
def test_what_a_launch_may_not_set(tmp_path: Path, given: dict[str, Any], problem: str) -> None:
    database = Database(f"sqlite:///{tmp_path}/state.db")
    jobs = EmbeddedJobs(deployed_heart(database, tmp_path, world(jobs=(REPORT,))))
    with pytest.raises(LaunchInvalid, match=problem) as refused:
        jobs.trigger("report", "ada", **given)
    assert "AKIA" not in str(refused.value)
    assert jobs.tasks() == []
    with pytest.raises(UnknownJob, match="did you mean report"):
        jobs.trigger("reprot", "ada")


def test_a_switch_is_shown_with_the_job_and_kept_once(context: PlaneContext) -> None:
    jobs = EmbeddedJobs(context)
    assert jobs.switch("report", enabled=True).enabled  # it was on: nothing to keep
    assert not jobs.switch("report", enabled=False, reason="night").enabled
    assert not jobs.switch("report", enabled=False).enabled
    assert _status(context, "report") == "DISABLED"
    assert _status(context, "load") == "ACTIVE"
    assert jobs.switch("report", enabled=True).enabled
    assert _status(context, "report") == "ACTIVE"


def _status(context: PlaneContext, name: str) -> str | None:
    with context.read() as tx:
        return tx.scalar(select(md_jobs.c.status).where(md_jobs.c.job_name == name))


def test_another_organisation_sees_and_starts_nothing(
    context: PlaneContext, tmp_path: Path
) -> None:
    mine = EmbeddedJobs(context)
    mine.trigger("report", "ada", key="one")
    mine.switch("report", enabled=False)
    theirs = EmbeddedJobs(replace(context, org_id="other"))
    assert theirs.jobs() == []
    assert theirs.dag_versions() == []
    assert theirs.tasks() == []
    with pytest.raises(UnknownJob):
        theirs.job("report")
    job_id = mine.job("report").job_id
    (refused,) = launched(theirs.context, cron(job_id))
    assert (refused.state, refused.task_id) == (TaskState.BLOCKED, "")
    for deploy in (theirs.deploy_plan, theirs.deploy):
        with pytest.raises(NothingToDeploy):
            deploy()
    other = EmbeddedJobs(
        deployed_heart(context.database, tmp_path, world(jobs=(LOAD, DOUBLE, REPORT)), "other")
    )
    assert other.job("report").enabled
    assert other.job("report").job_id != job_id
    assert other.trigger("report", "eve", key="one").new
    assert len(other.tasks()) == len(mine.tasks()) == 1
    assert len(other.dag_versions()) == 1
    assert len(mine.dag_versions()) == 1
