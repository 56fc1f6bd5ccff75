"""Job settings survive a round trip through their text form."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.registry.files.job_settings import (
    ALIASES,
    KEYS,
    controls_of,
    read_controls,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.jobs import (
    CatchUp,
    CronTrigger,
    JobControls,
    Overlap,
    UpdateTrigger,
)

WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
NAMES = st.lists(WORDS, min_size=1, max_size=4, unique=True).map(lambda found: tuple(sorted(found)))
SOME = st.one_of(st.just(()), NAMES)
DATASETS = NAMES.map(lambda found: tuple(DatasetName(f"silver.{name}") for name in found))
SCHEDULES = st.one_of(
    st.sampled_from(["hourly", "daily", "weekly", "monthly", "yearly", "*/5 9-17 * * mon-fri"]),
    st.builds("{} {} * * *".format, st.integers(0, 59), st.integers(0, 23)),
)
CRONS = st.builds(
    CronTrigger,
    schedule=SCHEDULES,
    time_zone=st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns"]),
    catch_up=st.sampled_from(CatchUp),
)
EVENTS = st.dictionaries(
    WORDS, st.lists(st.one_of(WORDS, st.integers(-5, 5)), min_size=1, max_size=2), min_size=1,
    max_size=2,
)  # fmt: skip


@st.composite
def any_controls(draw: st.DrawFn) -> JobControls:
    kind = draw(st.sampled_from([TaskKind.PYTHON, TaskKind.HTTP, TaskKind.BUILD]))
    runs = kind is not TaskKind.BUILD
    return JobControls(
        kind=kind,
        call="jobs.load:main" if kind is TaskKind.PYTHON else "",
        url="https://there.example/start" if kind is TaskKind.HTTP else "",
        timeout_seconds=draw(st.integers(1, 604_800)),
        cron=draw(st.none() | CRONS),
        updates=draw(st.none() | st.builds(UpdateTrigger, datasets=DATASETS, any=st.booleans())),
        files=draw(st.sampled_from(["", "landing/*.csv", "in/**/day=*/*.parquet"])),
        event=draw(st.none() | EVENTS),
        after=draw(SOME),
        overlap=draw(st.sampled_from(Overlap)),
        concurrency=draw(st.integers(1, 1000)),
        priority=draw(st.integers(-1000, 1000)),
        labels=draw(SOME),
        attempts=draw(st.none() | st.integers(1, 100)),
        outputs=draw(SOME) if runs else (),
    )


def written(controls: JobControls) -> dict[str, str]:
    """As somebody would write them, what is not set left out."""
    answer: dict[str, Any] = {
        "call": controls.call,
        "url": controls.url,
        "timeout": f"{controls.timeout_seconds}s",
        "on_files": controls.files,
        "on_event": "" if controls.event is None else json.dumps(controls.event),
        "after": ", ".join(controls.after),
        "overlap": controls.overlap,
        "concurrency": str(controls.concurrency),
        "priority": str(controls.priority),
        "labels": " ".join(reversed(controls.labels)),
        "attempts": "" if controls.attempts is None else str(controls.attempts),
        "outputs": ",".join(controls.outputs),
    }
    if controls.cron is not None:
        answer |= {
            "schedule": f" {controls.cron.schedule.upper()} ",
            "time_zone": controls.cron.time_zone,
            "catch_up": controls.cron.catch_up,
        }
    if controls.updates is not None:
        key = "on_update_any" if controls.updates.any else "on_update"
        answer[key] = ", ".join(controls.updates.datasets)
    return {key: str(value) for key, value in answer.items() if value}


@given(any_controls())
def test_what_is_set_is_read_back(controls: JobControls) -> None:
    assert controls.kind is not None
    dataset = DatasetName("silver.x") if controls.kind is TaskKind.BUILD else None
    job = JobDefinition(
        job="zz_job",
        type=controls.kind.value,
        dataset=dataset,
        details={"signing_secret": "env:KEY"},
        config=written(controls),
    )
    reading = read_controls(job)
    assert reading.mistakes == ()
    assert reading.controls == controls


@given(
    st.dictionaries(st.sampled_from([*KEYS, *ALIASES, "x#y", "odd"]), st.text(max_size=20)),
    st.sampled_from(["build", "python", "http", "shell"]),
)
def test_no_text_breaks_the_reading(config: dict[str, str], kind: str) -> None:
    """What is wrong is told by its key, and counts as not said."""
    reading = read_controls(JobDefinition(job="load", type=kind, config=config))
    places = {*config, "call", "url", "dataset", "type", "signing_secret"}
    assert {mistake.key for mistake in reading.mistakes} <= places
    assert controls_of(JobDefinition(job="load", type=kind, config=config)) == reading.controls
