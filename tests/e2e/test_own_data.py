"""A lake of one's own: a look at files, and many datasets side by side."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable

from tests.support.projects.terminal import Terminal

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.spark

HEADER = "order_id,ordered at,amount\n"
DAYS = {day: f"{day},2026-01-0{day}T08:00:00Z,{day}.50\n" for day in (5, 6, 7)}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """``init``, then exports arrive."""
    terminal = Terminal(tmp_path_factory.mktemp("own"))
    assert terminal.type("lakeguard init shop").code == 0
    terminal.type("cd shop")
    for name in ("orders", "returns", "visits"):
        exports = terminal.folder / "exports"
        exports.mkdir(exist_ok=True)
        for day, row in DAYS.items():
            (exports / f"{name}-2026-01-0{day}.csv").write_text(HEADER + row)
    return terminal


def test_from_files_to_a_governed_table(lake: Terminal) -> None:
    files = " ".join(f"./exports/orders-2026-01-0{day}.csv" for day in DAYS)  # as a shell expands
    added = lake.type(f"lakeguard source add orders {files}")
    assert added.code == 0
    assert added.out.startswith("✓ proposed  bronze.orders   csv, exports/orders-*.csv\n")
    assert "inspected 3 files, 3 rows" in added.out
    plan = lake.type("lakeguard plan").out
    assert "+   source    orders          csv, exports/orders-*.csv" in plan
    assert "+   dataset   bronze.orders   3 columns, 3 rules" in plan
    assert lake.type("lakeguard apply").code == 0
    ran = lake.type("lakeguard run bronze.orders")
    assert (ran.code, ran.out.startswith("✓ PROMOTED  bronze.orders v1   3 rows, ")) == (0, True)


def test_datasets_that_do_not_wait_for_each_other_run_side_by_side(lake: Terminal) -> None:
    for name in ("returns", "visits"):
        assert lake.type(f'lakeguard source add {name} "exports/{name}-*.csv"').code == 0
    assert lake.type("lakeguard apply").code == 0
    result = lake.type("lakeguard run --all --jobs 2 --json")
    assert result.code == 0
    ended = {item["dataset"]: item["outcome"] for item in result.data["runs"]}
    assert ended == {
        "bronze.orders": "UNCHANGED",
        "bronze.returns": "PROMOTED",
        "bronze.visits": "PROMOTED",
    }
    assert most_at_once(lake) == 2
    assert lake.type("lakeguard verify").code == 0


def most_at_once(lake: Terminal) -> int:
    runs = lake.type("lakeguard runs --json").data["runs"][:3]
    spans = [[datetime.fromisoformat(run[at]) for at in ("start_time", "end_time")] for run in runs]
    return max(sum(begin <= start < end for begin, end in spans) for start, _ in spans)


def test_a_window_is_filled_back_and_all_else_stays(lake: Terminal) -> None:
    """The file of the 6th was wrong and was written anew; reading on is no way to get it."""
    wrong = lake.folder / "exports" / "orders-2026-01-06.csv"
    wrong.write_text(HEADER + "6,2026-01-06T09:00:00Z,60.00\n66,2026-01-06T23:59:59Z,66.00\n")
    assert lake.type("lakeguard run bronze.orders").code == 1
    call = "lakeguard backfill bronze.orders --from 2026-01-06 --to 2026-01-06"
    unsaid = lake.type(call)
    assert (unsaid.code, "--by: order_id, ordered_at" in unsaid.err) == (2, True)
    filled = lake.type(f"{call} --by ordered_at")
    assert filled.code == 0, filled
    assert filled.out.startswith(
        "window: ordered_at from 2026-01-06 to 2026-01-06\n✓ PROMOTED  bronze.orders v2   2 rows"
    )
    assert amounts(lake, "bronze/orders") == {5: "5.50", 6: "60.00", 7: "7.50", 66: "66.00"}


def amounts(lake: Terminal, table: str) -> dict[int, str]:
    handle = DeltaTable(str(lake.folder / table))
    files = handle.get_add_actions(flatten=True)["path"].to_pylist()
    paths = [str(lake.folder / table / path) for path in files]
    rows = duckdb.execute("SELECT order_id, amount FROM read_parquet(?)", [paths]).fetchall()
    return {number: str(amount) for number, amount in rows}


def test_ctrl_c_ends_every_run_and_the_next_command_finds_none_left(lake: Terminal) -> None:
    for name in ("returns", "visits"):
        (lake.folder / "exports" / f"{name}-2026-01-08.csv").write_text(
            HEADER + "8,2026-01-08T08:00:00Z,8.50\n"
        )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults.killed_command", "SIGINT", "stage.written"),
            *("--project", str(lake.folder), "run", "bronze.returns", "bronze.visits"),
            *("--jobs", "2"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == "interrupted"
    again = lake.type("lakeguard run bronze.returns bronze.visits --json")
    assert "was abandoned" not in again.err
    assert {item["outcome"] for item in again.data["runs"]} <= {"PROMOTED", "UNCHANGED"}
    runs = lake.type("lakeguard runs --json").data["runs"][2:4]
    stopped = [run for run in runs if run["status"] != "SUCCESS"]  # unless it was done just before
    assert all("interrupted" in run["error_message"] for run in stopped)
