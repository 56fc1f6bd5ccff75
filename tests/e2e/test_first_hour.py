"""The first hour of README.md, typed line by line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.projects.terminal import Terminal

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.spark

BLOCKED = 3


def written_lines() -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    walk = text.partition("## The first hour")[2].partition("\n## ")[0]
    return re.findall(r"^    (\S.*)$", walk, re.MULTILINE)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """Every line typed; RUN is the blocked one, as the line before it lists it."""
    terminal = Terminal(tmp_path_factory.mktemp("walk"))
    for line in written_lines():
        if line.endswith(" RUN"):
            runs = terminal.type("lakeguard runs silver.orders --json").data["runs"]
            terminal.results.pop()
            blocked = next(run for run in runs if run["status"] == "BLOCKED")
            line = line.replace("RUN", blocked["run_id"])
        terminal.type(line)
    return terminal


def test_every_line_ends_as_the_page_says(walked: Terminal) -> None:
    codes = {each.line: each.code for each in walked.results}
    ends = [(each.line, each.code) for each in walked.results if each.code != 0]
    assert ends == [("lakeguard run --all", BLOCKED)], codes


def described(walked: Terminal, line: str, nth: int = 0) -> str:
    return [item.out for item in walked.results if item.line == line][nth]


def outcomes(text: str) -> list[list[str]]:
    """Outcome, dataset, visible version and rows of each line of the summary."""
    below = text.partition("OUTCOME ")[2].partition("\n\n")[0].splitlines()[1:]
    return [re.split(r" {2,}", line.strip())[:4] for line in below]


def test_the_walk_says_what_happened(walked: Terminal) -> None:
    first = described(walked, "lakeguard run --all")
    assert outcomes(first) == [
        ["✓ PROMOTED", "bronze.orders", "v1", "10"],
        ["✓ PROMOTED", "silver.orders", "v1", "10"],
        ["✓ PROMOTED", "gold.revenue_daily", "v1", "5"],
    ]
    assert first.splitlines()[-1] == "3 datasets: 3 promoted"
    assert "nothing new; v1 stays" in described(walked, "lakeguard run silver.orders")
    assert described(walked, "lakeguard run bronze.arrivals").startswith(
        "✓ PROMOTED  bronze.arrivals v1   3 rows, "
    )


def test_a_block_stops_what_is_built_on_it(walked: Terminal) -> None:
    second = described(walked, "lakeguard run --all", 1)
    assert outcomes(second) == [
        ["✓ PROMOTED", "bronze.orders", "v2", "3"],
        ["✗ BLOCKED", "silver.orders", "v1", "3"],
        ["○ NOT RUN", "gold.revenue_daily", "v1", "-"],
    ]
    assert "waits for silver.orders" in second
    assert second.splitlines()[-1] == "Next: lakeguard why silver.orders"


def test_the_block_names_each_broken_rule_with_its_number(walked: Terminal) -> None:
    lines = described(walked, "lakeguard run --all", 1).partition("OUTCOME")[0].strip().splitlines()
    assert lines[0] == "✗ BLOCKED  silver.orders   nothing was published; v1 stays visible"
    assert lines[-1] == "Next: lakeguard why silver.orders"
    failing = [line.split("(")[0].strip() for line in lines if "✗ FAIL" in line]
    assert sorted(failing) == ["range", "unique"]
    assert any("1 of 3 new rows (33 %), worst -35" in line for line in lines)


def test_why_shows_the_way_back(walked: Terminal) -> None:
    text = described(walked, "lakeguard why silver.orders")
    assert "✗ BLOCKED  silver.orders" in text
    assert "input bronze.orders   v1 → v2" in text
    assert 'lakeguard rollback bronze.orders --to v1 --reason "…"' in text
    assert len(text.splitlines()) <= 40


def masked(text: str) -> list[str]:
    """The lines of a page without ids, times and dates, which differ from run to run."""
    text = re.sub(r"\b(run|dec)_[0-9A-Z]{26}\b", r"\1_ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d UTC)?", "DATE", text)
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_transcript_in_the_readme_is_real(walked: Terminal) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    transcript = text.partition("```text\n")[2].partition("```")[0]
    assert masked(transcript) == masked(described(walked, "lakeguard why silver.orders"))


def test_the_replay_is_identical(walked: Terminal) -> None:
    replayed = next(item for item in walked.results if " replay " in item.line)
    assert replayed.out.startswith("✓ IDENTICAL  run_")


def test_the_ledger_tells_it_all_again(walked: Terminal) -> None:
    folder = walked.folder
    status = Terminal(folder).type("lakeguard status --json").data["datasets"]
    health = {item["dataset"]["dataset_name"]: item["health"] for item in status}
    assert health == {
        "bronze.arrivals": "OK",
        "bronze.orders": "ROLLED_BACK",
        "gold.revenue_daily": "OK",
        "silver.orders": "OK",
    }
    page = Terminal(folder).type("lakeguard show bronze.orders --json").data
    assert [(move["kind"], move["version"]) for move in page["moves"]] == [
        ("publish", 1),
        ("publish", 2),
        ("rollback", 1),
    ]
    assert page["moves"][-1]["reason"] == "mistakes in the export"
    assert page["definition"]["columns"][2]["tags"] == ["pii"]


def test_a_process_of_its_own_keeps_the_streams_apart(walked: Terminal) -> None:
    """A scheduler's view: JSON alone on standard output, and the exit code of a block."""
    (walked.folder / "data" / "orders-2026-01-08.csv").write_text(
        "order_id,ordered_at,customer_email,country,amount,status\n"
        "1020,2026-01-08T08:00:00Z,lea@example.com,de,-1.00,paid\n"
    )
    codes = []
    for name in ("bronze.orders", "silver.orders"):
        done = subprocess.run(
            [sys.executable, "-m", "lakeguard.cli.main", "run", name, "--json"],
            cwd=walked.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(done.returncode)
        document = json.loads(done.stdout)
        assert done.stderr == f"running {name} …\n"
    assert codes == [0, BLOCKED]
    assert document["run"]["status"] == "BLOCKED"
    assert document["published"] == 1


@pytest.fixture(scope="module")
def violating(walked: Terminal) -> Terminal:
    """A batch with a negative amount waits for silver.orders, whichever tests ran before."""
    (walked.folder / "data" / "orders-2026-01-09.csv").write_text(
        "order_id,ordered_at,customer_email,country,amount,status\n"
        "1021,2026-01-09T08:00:00Z,max@example.com,de,-2.00,paid\n"
    )
    assert Terminal(walked.folder).type("lakeguard run bronze.orders").code == 0
    return walked


@pytest.mark.parametrize(
    "line",
    [
        "lakeguard --debug run silver.orders",
        "lakeguard run silver.orders --json",
        "lakeguard run silver.orders --env dev",
        "lakeguard run silver.orders --project .",
    ],
)
def test_no_option_lets_the_violating_batch_in(violating: Terminal, line: str) -> None:
    assert Terminal(violating.folder).type(line).code == BLOCKED


@pytest.mark.parametrize("name", ["LAKEGUARD_ENV", "NO_COLOR", "LAKEGUARD_CACHE"])
def test_no_variable_lets_the_violating_batch_in(
    violating: Terminal, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "dev")
    assert Terminal(violating.folder).type("lakeguard run silver.orders").code == BLOCKED


def test_an_interrupted_run_ends_cleanly(walked: Terminal) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults.killed_command", "SIGINT", "stage.written"),
            *("--project", str(walked.folder), "run", "gold.revenue_daily"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    last = Terminal(walked.folder).type("lakeguard runs gold.revenue_daily --limit 1 --json")
    (run,) = last.data["runs"]
    begun, became, ended = filter(None, done.stderr.splitlines())
    assert (begun, ended) == ("running gold.revenue_daily …", "interrupted")
    assert f"{run['run_id']} was interrupted and ended; nothing was published" in became
    assert run["status"] == "FAILED"
    assert "interrupted" in run["error_message"]
