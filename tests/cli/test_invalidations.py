"""``lakeguard invalidations`` and partitions, as a person calls and reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.services.windows import partition_windows
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import NoWindow
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.invalidations import Reason
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    SILVER,
    dataset,
    project,
    publish,
)
from tests.support.projects.shell import Shell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    client = project(tmp_path, dataset(BRONZE), dataset(SILVER, BRONZE))
    for name in (BRONZE, SILVER):
        publish(client, name, {"2026-01": [1], "2026-02": [2]})
    return tmp_path


def test_one_is_added_seen_and_withdrawn(shell: Shell, folder: Path) -> None:
    at = ("--project", folder)
    words = ("--partition", "month=2026-01", "--reason", "correction", "--why", "a wrong feed")
    added = shell("invalidations", "add", BRONZE, *words, *at)
    assert added.code == 0
    assert "! 2 datasets behind  bronze.flights   month=2026-01" in added.out
    assert "WAITING    silver.flights   for bronze.flights" in added.out
    window = "--from 2026-01 --to 2026-01 --by month"
    assert added.out.endswith(f"Next: lakeguard backfill bronze.flights {window}\n")
    (row,) = shell("invalidations", "list", SILVER, *at, "--json").data["invalidations"]
    assert (row["reason"], row["why"], row["end"]) == ("correction", "a wrong feed", None)
    listed = shell("invalidations", "list", *at).out
    assert listed.splitlines()[1].split()[:4] == [
        row["invalidation_id"], "bronze.flights", "month=2026-01", "correction"
    ]  # fmt: skip
    key = row["invalidation_id"]
    withdrawn = shell("invalidations", "withdraw", key, "--why", "it was right", *at)
    assert "WITHDRAWN" in withdrawn.out
    assert shell("invalidations", "list", *at).out == "all datasets have caught up\n"
    (over,) = shell("invalidations", "list", "--all", *at, "--json").data["invalidations"]
    assert over["end"] == "withdrawn"
    again = shell("invalidations", "withdraw", key, "--why", "again", *at, "--json")
    assert (again.code, again.data["error"]["code"]) == (2, "LG-1663")
    shown = shell("invalidations", "show", key, *at).out
    assert "WITHDRAWN" in shown
    assert over["end_why"] == "it was right"
    assert f"UTC, by {over['ended_by']}: it was right\n" in shown


def test_who_withdraws_hears_of_what_was_launched_for_it(shell: Shell, tmp_path: Path) -> None:
    at = ("--project", tmp_path)
    build = JobDefinition(job="load", dataset=BRONZE, type="build")
    client = project(tmp_path, dataset(BRONZE), jobs=[build])
    publish(client, BRONZE, {"2026-01": [1]})
    client.jobs.deploy()

    def added() -> str:
        reach = RowRange(partitions=("month=2026-01",))
        return client.operations.invalidate(BRONZE, reach, Reason.MANUAL).invalidation_id

    key = added()
    assert client.operations.reconcile() == 1
    (task,) = client.jobs.tasks(state=TaskState.QUEUED)
    result = shell("invalidations", "withdraw", key, "--why", "no", *at).out.splitlines()
    assert result[-1] == f"  task {task.task_id} was canceled with it"
    key = added()
    assert client.operations.reconcile() == 1
    (claimed,) = client.dispatch.claim(this_process("by hand"))
    client.runs.open_claimed(claimed.ticket)
    (task,) = client.jobs.tasks(state=TaskState.RUNNING)
    goes_on = [
        f"  task {task.task_id} was launched for it and still runs",
        f"Next: lakeguard tasks cancel {task.task_id}",
    ]
    result = shell("invalidations", "withdraw", key, "--why", "no", *at).out.splitlines()
    assert result[-2:] == goes_on
    assert shell("invalidations", "show", key, *at).out.splitlines()[-2:] == goes_on
    client.jobs.cancel(task.task_id)
    row = shell("invalidations", "show", key, *at, "--json").data["invalidation"]
    assert (row["end"], row["going_on"]) == ("withdrawn", [])


@pytest.mark.parametrize(
    "words",
    [
        ("--partition", "month=1", "--from", "1", "--to", "2"),
        ("--from", "1"),
        ("--by", "month"),
    ],
)
def test_a_part_is_named_in_one_way(shell: Shell, folder: Path, words: tuple[str, ...]) -> None:
    result = shell(
        "invalidations", "add", BRONZE, "--reason", "manual", *words, "--project", folder
    )
    assert result.code == 2
    listed = shell("invalidations", "list", "--project", folder)
    assert listed.out == "all datasets have caught up\n"


def test_a_window_is_about_the_column_that_is_meant(shell: Shell, folder: Path) -> None:
    words = ("--from", "1", "--to", "5", "--by", "n", "--reason", "late_data")
    result = shell("invalidations", "add", BRONZE, *words, "--project", folder, "--json")
    reported = result.data["invalidation"]
    assert reported["reach"]["window"] == {"column": "n", "start": "1", "end": "5"}
    assert [item["reach"] for item in reported["followers"]] == [
        reported["reach"], {"partitions": [], "window": None}
    ]  # fmt: skip


def test_partitions_are_listed_with_the_version_that_brought_them(
    shell: Shell, folder: Path
) -> None:
    result = shell("versions", BRONZE, "--partitions", "--project", folder)
    assert [line.split()[:2] for line in result.out.splitlines()] == [
        ["PARTITION", "SINCE"], ["month=2026-01", "v1"], ["month=2026-02", "v1"]
    ]  # fmt: skip
    answer = shell("versions", BRONZE, "--partitions", "--project", folder, "--json").data
    assert [row["rows"] for row in answer["partitions"]] == [1, 1]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--from", "1"), "use --from and --to, or --partition"),
        (("--partition", "month=1", "--by", "n"), "use --partition, or --from"),
        (("--partition", "month"), "invalid partition"),
        (("--partition", "x=1"), "is not of a column with windows"),
    ],
)
def test_a_back_fill_is_named_in_one_way(
    shell: Shell, folder: Path, words: tuple[str, ...], problem: str
) -> None:
    result = shell("backfill", BRONZE, *words, "--project", folder)
    assert result.code == 2
    assert problem in result.err


def test_windows_of_partitions_are_in_the_order_of_their_values() -> None:
    definition = dataset(BRONZE, by=("n",))
    windows = partition_windows(definition, ["n=10", "n=9", "n=10"])
    assert windows == [Window(column="n", start=text, end=text) for text in ("9", "10")]
    with pytest.raises(NoWindow, match="is not a valid long"):
        partition_windows(definition, ["n=ten"])
