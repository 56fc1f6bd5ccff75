"""``deploy`` and ``jobs``: what is said on the terminal, and what a wrong call gets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from lakeguard.cli.rendering.jobs import deployed_lines, job_lines, jobs_lines, versions_lines
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.scheduling.jobs import (
    CronTrigger,
    DagVersion,
    Deployed,
    JobControls,
    JobRow,
    UpdateTrigger,
)
from tests.support.projects.assignments import write_job
from tests.support.projects.job_graphs import (
    DOUBLE,
    LOAD,
    job,
    world,
)
from tests.support.projects.projects import make_project
from tests.support.projects.shell import Shell

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MAIN = job("report", type="python", config={"call": "jobs:main", "schedule": "daily"})


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, Path]:
    make_project(tmp_path, world(jobs=(LOAD, DOUBLE, MAIN)))
    return "--project", tmp_path


def test_a_graph_from_its_plan_to_going_back(shell: Shell, place: tuple[str, Path]) -> None:
    planned = shell("deploy", "--dry-run", *place)
    assert "  + job report\n" in planned.out
    assert planned.out.endswith("nothing was changed\nNext: lakeguard deploy\n")
    assert shell("deploy", "--list", *place).out.startswith("no graph is deployed yet")
    refused = shell("jobs", "trigger", "report", *place)
    assert refused.code == 3
    assert "✗ REFUSED  report   LG-3323: no graph is deployed yet" in refused.out
    assert refused.out.endswith("Next: lakeguard deploy\n")
    done = shell("deploy", "--reason", "first", *place)
    assert "✓ DEPLOYED  dag_" in done.out
    assert "= UNCHANGED  this graph is already active" in shell("deploy", *place).out
    (version,) = shell("deploy", "--list", "--json", *place).data["versions"]
    assert (version["active"], version["jobs"], version["datasets"]) == (True, 3, 2)
    assert "● active" in shell("deploy", "--list", *place).out
    unknown = shell("deploy", "--to", "dag_x", *place)
    assert (unknown.code, "LG-1622" in unknown.err) == (2, True)


@pytest.fixture
def lake(shell: Shell, tmp_path: Path) -> Path:
    assert shell("init", tmp_path / "lake", "--example").code == 0
    return tmp_path / "lake"


def define(lake: Path, name: str) -> None:
    folder = lake / "definitions" / "jobs"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(f"job: {name}\ndataset: silver.orders\n")


def test_nothing_is_deployed_where_nothing_is_applied(shell: Shell, lake: Path) -> None:
    for more in ((), ("--dry-run",)):
        refused = shell("deploy", *more, "--project", lake)
        assert refused.code == 2
        assert "! 5 definitions in the files are not applied: + source orders" in refused.err
        assert "LG-1624" in refused.err
        assert "Next: lakeguard apply, then: lakeguard deploy" in refused.err
    assert shell("deploy", "--list", "--json", "--project", lake).data["versions"] == []


def test_a_deployment_names_what_is_not_applied(shell: Shell, lake: Path) -> None:
    place = ("--project", lake)
    shell("apply", *place)
    first = shell("deploy", *place).out
    assert "not applied" not in first
    assert first.endswith("Next: lakeguard jobs list\n")
    define(lake, "nightly")
    described = [
        "! 1 definition in the files is not applied: + job nightly",
        "Next: lakeguard apply, then: lakeguard deploy",
    ]
    for more in ((), ("--dry-run",)):
        lines = shell("deploy", *more, *place).out.splitlines()
        assert "= UNCHANGED" in lines[0]
        assert lines[1:] == described
    data = shell("deploy", "--json", *place).data
    unapplied = {"definitions": ["+ job nightly"], "mistakes": 0, "first_mistake": ""}
    assert data["unapplied"] == unapplied
    (version,) = shell("deploy", "--list", "--json", *place).data["versions"]
    assert "not applied" not in shell("deploy", "--to", version["dag_version_id"], *place).out
    shell("apply", *place)
    assert "+ job nightly" in shell("deploy", *place).out
    define(lake, "ni ghtly")
    broken = shell("deploy", *place)
    assert broken.code == 0
    assert "! the files have 1 error (definitions/" in broken.out
    assert "); their changes are not applied" in broken.out
    assert broken.out.endswith("Next: lakeguard validate\n")


def test_a_list_without_jobs_says_what_to_do(shell: Shell, lake: Path) -> None:
    place = ("--project", lake)
    none = shell("jobs", "list", *place).out
    assert none == "no jobs\nNext: write definitions/jobs/NAME.yaml, then: lakeguard apply\n"
    shell("apply", *place)
    define(lake, "nightly")
    lines = shell("jobs", "list", *place).out.splitlines()
    assert lines == [
        "no jobs are applied",
        "! 1 definition in the files is not applied: + job nightly",
        "Next: lakeguard apply, then: lakeguard deploy",
    ]
    data = shell("jobs", "list", "--json", *place).data
    assert data["unapplied"]["definitions"] == ["+ job nightly"]


def test_a_job_is_looked_at_switched_and_started(shell: Shell, place: tuple[str, Path]) -> None:
    assert "Next: lakeguard deploy" in shell("jobs", "list", *place).out
    shell("deploy", *place)
    listed = shell("jobs", "list", *place).out
    assert "at daily" in listed
    assert "after load" in listed
    assert "switched off  report" in shell("jobs", "disable", "report", *place).out
    assert shell("jobs", "trigger", "report", *place).code == 3
    shown = shell("jobs", "show", "report", *place).out
    assert "LG-3321 job report is switched off" in shown
    assert "Next: lakeguard jobs enable report" in shown
    assert "● on  report" in shell("jobs", "enable", "report", "--reason", "well", *place).out
    started = shell("jobs", "trigger", "report", "--key", "one", *place)
    assert (started.code, started.out.splitlines()[-1]) == (0, "Next: lakeguard worker")
    again = shell("jobs", "trigger", "report", "--key", "one", *place)
    assert "already started" in again.out
    data = shell("jobs", "show", "report", "--json", *place).data
    assert data["job"]["controls"]["call"] == "jobs:main"
    assert [task["state"] for task in data["tasks"]] == ["queued", "blocked"]


def test_a_job_is_run_here_to_its_end(shell: Shell, place: tuple[str, Path]) -> None:
    shell("deploy", *place)
    write_job(place[1], 'print(job.parameters["region"], job.date)')
    call = ("jobs", "trigger", "report", "--date", "2026-01-31", "--set", "region=north", "--here")
    ran = shell(*call, *place)
    assert (ran.code, "✓ completed  report" in ran.out) == (0, True), ran
    again = shell(*call, "--json", *place).data["launch"]
    assert (again["new"], again["state"]) == (False, "completed")
    assert shell("tasks", "log", again["task_id"], *place).out == "north 2026-01-31\n"
    write_job(place[1], 'raise ValueError("broken")')
    failed = shell("jobs", "trigger", "report", "--here", *place)
    assert failed.code == 1
    assert "LG-5651" in failed.out


def test_the_same_again_here_ends_as_the_first_did(shell: Shell, place: tuple[str, Path]) -> None:
    shell("deploy", *place)

    def ends(key: str) -> list[int]:
        call = ("jobs", "trigger", "report", "--key", key, *place)
        return [shell(*call, *more).code for more in (("--here",), ("--here",), ())]

    write_job(place[1], 'raise ValueError("broken")')
    assert ends("failed") == [1, 1, 0]
    write_job(place[1], "pass")
    assert ends("well") == [0, 0, 0]
    shell("jobs", "trigger", "report", "--key", "waits", *place)
    shell("jobs", "disable", "report", *place)
    assert ends("blocked") == [3, 3, 3]
    late = shell("jobs", "trigger", "report", "--key", "waits", "--here", *place)
    assert (late.code, "LG-3321: job report was switched off since" in late.out) == (3, True)


def test_an_old_refusal_is_told_as_one(shell: Shell, place: tuple[str, Path]) -> None:
    shell("deploy", *place)
    call = ("jobs", "trigger", "report", "--key", "z", *place)
    shell("jobs", "disable", "report", *place)
    first = shell(*call)
    assert "started before" not in first.out
    shell("jobs", "enable", "report", *place)
    again = shell(*call)
    refused, way = again.out.splitlines()
    assert (again.code, refused.endswith("   already started")) == (3, True)
    assert way.startswith("Next: lakeguard tasks retry task_")
    assert shell(*way.split()[2:], *place).code == 0


def test_what_is_tried_again_later_is_told(shell: Shell, place: tuple[str, Path]) -> None:
    shell("deploy", *place)
    write_job(
        place[1], "from lakeguard_sdk.scheduling.python_job import Retry\nraise Retry('not yet')"
    )
    ran = shell("jobs", "trigger", "report", "--here", "--json", *place)
    task, due = ran.data["task"]["task_id"], ran.data["task"]["due_at"]
    assert (ran.code, due is not None) == (1, True)
    row = shell("tasks", "show", task, *place).out
    ways = [f"Next: lakeguard tasks {word} {task}" for word in ("retry", "cancel")]
    assert row.splitlines()[-2:] == ways
    again = shell("jobs", "trigger", "report", "--here", *place).out.splitlines()
    assert again[2].startswith("a worker retries it at 20")
    assert again[2].endswith(" UTC")
    assert [line.split()[3] for line in again[-2:]] == ["show", "cancel"]
    assert shell("tasks", "cancel", again[-1].split()[-1], *place).code == 0


def test_who_switched_a_job_when_and_why(shell: Shell, place: tuple[str, Path]) -> None:
    assert shell("jobs", "show", "report", "--json", *place).data["job"]["switched"] is None
    shell("jobs", "disable", "report", "--reason", "the shop moves\x1b house", *place)
    switch = shell("jobs", "show", "report", "--json", *place).data["job"]["switched"]
    assert (switch["enabled"], switch["reason"]) == (False, "the shop moves\x1b house")
    (line,) = [
        line
        for line in shell("jobs", "show", "report", *place).out.splitlines()
        if line.startswith("  switched ")
    ]
    assert " off at 20" in line
    assert line.endswith(f" UTC by {switch['by']}: the shop moves\\x1b house")
    shell("jobs", "enable", "report", *place)
    assert " on at 20" in shell("jobs", "show", "report", *place).out


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("show", "reprot"), "unknown job reprot; did you mean report?"),
        (("trigger", "report", "--set", "x"), "write --set NAME=VALUE"),
        (("trigger", "report", "--set", "x=1", "--set", "x=2"), "x is set twice"),
        (("trigger", "report", "--date", "yesterday"), "is not a day"),
        (("trigger", "report", "--date", "2026-02-30"), "is not a day"),
        (("enable", "other"), "unknown job other"),
    ],
)
def test_a_wrong_call(
    shell: Shell, place: tuple[str, Path], arguments: tuple[str, ...], given: str
) -> None:
    answer = shell("jobs", *arguments, *place)
    assert answer.code == 2
    assert given in answer.err


def row(name: str, **fields: object) -> JobRow:
    usual = {
        "job_id": f"job_{name}",
        "job": name,
        "kind": TaskKind.PYTHON,
        "active": True,
        "enabled": True,
        "deployed": True,
        "controls": JobControls(kind=TaskKind.PYTHON),
    }
    return JobRow.model_validate({**usual, **fields})


def test_why_a_job_would_not_start_is_seen_in_the_list() -> None:
    controls = JobControls(
        cron=CronTrigger(schedule="0 2 * * *", time_zone="Europe/Berlin"),
        updates=UpdateTrigger(datasets=("silver.a", "silver.b"), any=True),
    )
    rows = [
        row("off", enabled=False),
        row("still", active=False, kind=None),
        row("new", deployed=False),
        row(
            "well",
            controls=controls,
            next_at=NOW,
            last_state=TaskState.FAILED,
            last_at=NOW - timedelta(hours=2),
        ),
    ]
    _, *lines = [click.unstyle(line) for line in jobs_lines(rows, NOW)]
    assert "manually" in lines[0]
    assert "✗ switched off" in lines[0]
    assert "no runner" in lines[1]
    assert "✗ inactive" in lines[1]
    assert "! not deployed" in lines[2]
    assert "at 0 2 * * * Europe/Berlin; on any of s…" in lines[3]
    assert "2026-01-31 12:00:00 UTC" in lines[3]
    assert "! failed" in lines[3]
    assert lines[-1] == "Next: lakeguard deploy"
    shown = [click.unstyle(line) for line in job_lines(rows[3], [], NOW)]
    assert "on any of silver.a, silver.b" in "\n".join(shown)
    assert shown[-2:] == ["it has not been started yet", "Next: lakeguard jobs trigger well"]


def test_the_list_of_graphs_advises_nobody_to_go_back() -> None:
    versions = [
        DagVersion(
            dag_version_id=f"dag_{number}",
            dag_hash="sha256:0123456789abcdef",
            created_at=NOW,
            jobs=1,
            datasets=1,
            active=number == 2,
        )
        for number in (2, 1)
    ]
    assert versions_lines(versions)[-1] == "Next: lakeguard deploy --dry-run --to dag_1"


def test_what_a_deployment_canceled_is_counted() -> None:
    done = Deployed(
        dag_version_id="dag_1",
        dag_hash="sha256:0123456789abcdef",
        changed=True,
        removed=("job late",),
        altered=("job x: python → http",),
        canceled=("task_1", "task_2", "task_3", "task_4"),
        problems=("task task_5 could not be canceled: no\x1b route",),
    )
    lines = [click.unstyle(line) for line in deployed_lines(done)]
    assert lines == [
        "  - job late",
        "  ~ job x: python → http",
        "✓ DEPLOYED  dag_1   0123456789ab",
        "4 tasks of newer versions canceled: task_1, task_2, task_3 and 1 more",
        r"! task task_5 could not be canceled: no\x1b route",
        "the dispatcher retries this at each poll",
        "Next: lakeguard jobs list",
    ]
