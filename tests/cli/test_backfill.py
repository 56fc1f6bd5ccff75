"""Filling back: which column is meant, which windows are refused, what a task keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard.cli.rendering.run import run_lines
from lakeguard.services.windows import backfill_command, chosen_window
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import NoWindow
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromFrame,
    TargetDefinition,
)
from lakeguard_sdk.model.run import Failure, Window
from tests.support.cases import models
from tests.support.projects.definitions import dataset, source
from tests.support.projects.projects import make_project
from tests.support.projects.shell import Shell

TYPES = {"id": "long", "day": "date", "hour": "integer", "at": "timestamp", "city": "string"}
COLUMNS = tuple(ColumnDefinition(name=name, type=described) for name, described in TYPES.items())


def trips(*partition_by: str, watermark: str = "", **described: Any) -> DatasetDefinition:
    load = {"type": LoadType.APPEND, "partition_by": partition_by, "watermark": watermark}
    return dataset("bronze.trips", load=load, columns=COLUMNS, rules=(), **described)


def chosen(definition: DatasetDefinition, by: str | None = None, **described: str) -> str:
    window = {"start": "2026-01-01", "end": "2026-01-31", **described}
    definitions = Definitions(
        targets=(TargetDefinition(target="t", location="x", zone="z", partition_by=("day",)),)
    )
    return chosen_window(definition, definitions, **window, by=by).column


@pytest.mark.parametrize(
    ("definition", "by", "column"),
    [
        (trips("day"), None, "day"),
        (trips("day"), "at", "at"),
        (trips("city", "day"), None, "day"),
        (trips("day", watermark="at"), None, "day"),
        (trips("city", watermark="at"), None, "at"),
        (trips(watermark="at"), None, "at"),
        (trips(target="t"), None, "day"),
        (trips("city"), "city", "city"),
    ],
)
def test_the_column_that_is_meant(definition: DatasetDefinition, by: str, column: str) -> None:
    assert chosen(definition, by) == column


@pytest.mark.parametrize(
    ("definition", "options", "reason"),
    [
        (trips("day", "hour", watermark="at"), {}, "choose a column with --by: day, hour"),
        (trips(), {}, "choose a column with --by: id, day, hour, at"),
        (trips(), {"by": "nobody"}, "column 'nobody' does not exist"),
        (trips("day"), {"start": "January"}, "'January' is not a valid date"),
        (trips("day"), {"end": "2025-12-31"}, "before it starts at 2026-01-01"),
    ],
)
def test_a_window_that_cannot_be_is_refused_by_name(
    definition: DatasetDefinition, options: dict[str, str], reason: str
) -> None:
    with pytest.raises(NoWindow) as refused:
        chosen(definition, **options)
    assert reason in str(refused.value)
    assert refused.value.exit_code == 2


def make(folder: Path, *datasets: DatasetDefinition) -> None:
    make_project(folder, Definitions(sources=(source(),), datasets=datasets))


def test_the_window_reaches_the_run_and_is_told(shell: Shell, tmp_path: Path) -> None:
    """Nothing is published yet, so that the run is refused before any engine starts."""
    make(tmp_path, trips("day"))
    call = ("backfill", "bronze.trips", "--from", "2026-01-01", "--to", "2026-01-31")
    result = shell(*call, "--project", tmp_path)
    assert result.code == 3
    assert result.err == "backfilling bronze.trips, day from 2026-01-01 to 2026-01-31 …\n"
    assert result.out.startswith("window: day from 2026-01-01 to 2026-01-31\n✗ BLOCKED")
    assert "bronze.trips has no version yet; first: lakeguard run bronze.trips" in result.out
    answer = shell(*call, "--project", tmp_path, "--json").data
    assert answer["window"] == {"column": "day", "start": "2026-01-01", "end": "2026-01-31"}
    assert answer["run"]["status"] == "BLOCKED"


def test_why_names_the_same_window(shell: Shell, tmp_path: Path) -> None:
    make(tmp_path, trips("day"))
    call = ("backfill", "bronze.trips", "--from", "2026-01-01", "--to", "2026-01-31")
    assert shell(*call, "--project", tmp_path).code == 3
    ways = shell("why", "bronze.trips", "--project", tmp_path, "--json").data["next_commands"]
    again = "backfill bronze.trips --from 2026-01-01 --to 2026-01-31 --by day"
    assert [way["command"].count(again) for way in ways] == [1]
    (run,) = shell("runs", "--project", tmp_path, "--json").data["runs"]
    assert run["window"] == {"column": "day", "start": "2026-01-01", "end": "2026-01-31"}


def test_what_a_program_publishes_is_neither_run_nor_filled_back(
    shell: Shell, tmp_path: Path
) -> None:
    make(tmp_path, trips("day", build=FromFrame()))
    project = ("--project", tmp_path, "--json")
    for call in (
        ("run", "bronze.trips"),
        ("backfill", "bronze.trips", "--from", "2026-01-01", "--to", "2026-01-31"),
    ):
        result = shell(*call, *project)
        assert (result.code, result.data["error"]["code"]) == (2, "LG-1201")
        assert "tx.publish" in result.data["error"]["message"]
    everything = shell("run", "--all", *project)
    assert everything.code == 0
    assert everything.data == {
        "runs": [],
        "left_out": {"bronze.trips": "built by a program: tx.publish"},
    }


def test_run_wants_names_or_all(shell: Shell, tmp_path: Path) -> None:
    make(tmp_path, trips("day"))
    wanted = "name datasets to run, or use --all or --changed"
    parents = "--all includes all parents"
    calls = {(): wanted, ("--all", "bronze.trips"): wanted, ("--all", "--with-parents"): parents}
    for words, reason in calls.items():
        result = shell("run", *words, "--project", tmp_path)
        assert result.code == 2
        assert reason in result.err


@pytest.mark.parametrize(
    ("code", "before"),
    [("LG-4002", ""), ("LG-5010", "correct the rows, or the load in its definition; then: ")],
)
def test_another_try_of_a_failed_window_is_the_same_window(code: str, before: str) -> None:
    window = Window(column="at", start="2026-01-01 10:00", end="2026-01-31")
    failed = models.result(RunStatus.FAILED, error=Failure(code=code, message="no"))
    again = backfill_command(failed.dataset, window)
    words = "--from '2026-01-01 10:00' --to 2026-01-31 --by at"
    assert again == f"lakeguard backfill silver.flights {words}"
    assert run_lines(failed, 1, again)[-1] == f"Next: {before}{again}"
