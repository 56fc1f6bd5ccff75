"""The gate's memory as a person uses it: back-tests, replays, a rebuilt run, two runs compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.terminal import Terminal

pytestmark = pytest.mark.spark
BLOCKED = 3


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """The example, promoted once and blocked by a file with mistakes."""
    terminal = Terminal(tmp_path_factory.mktemp("memory"))
    for line in ("lakeguard init shop --example", "cd shop", "lakeguard apply"):
        assert terminal.type(line).code == 0
    assert terminal.type("lakeguard run --all").code == 0
    terminal.type("cp incoming/orders-2026-01-07.csv data/")
    assert terminal.type("lakeguard run bronze.orders").code == 0
    assert terminal.type("lakeguard run silver.orders").code == BLOCKED
    return terminal


def draft(shop: Terminal, *rules: str, without: str = "") -> Path:
    """The definition of silver.orders with more rules, in a file beside the project."""
    text = (shop.folder / "definitions/silver/orders.yaml").read_text("utf-8")
    if without:
        text = "".join(line for line in text.splitlines(True) if without not in line)
    more = "".join(f"  - {rule}\n" for rule in rules)
    file = shop.folder.parent / "draft.yaml"
    file.write_text(text.replace("\nrules:\n", f"\nrules:\n{more}"), "utf-8")
    return file


def test_the_rules_as_they_are_change_nothing(shop: Terminal) -> None:
    result = shop.type("lakeguard backtest definitions/silver/orders.yaml --check --json")
    assert result.code == 0
    (test,) = result.data["backtests"]
    assert (test["runs"], test["unchanged"], test["blocks"]) == (2, 2, [])


def test_a_stricter_rule_is_scanned_told_and_checked(shop: Terminal) -> None:
    file = draft(shop, "row_count(max=1)", "mean(amount, max=1)", without="row_count(min=1)")
    plain = shop.type(f"lakeguard backtest {file} --since 7d")
    assert plain.code == 0
    assert "would have newly blocked 1 of 2 runs" in plain.out
    assert "--scan measures published versions" in plain.out
    scanned = shop.type(f"lakeguard backtest {file} --scan --check --format markdown")
    assert scanned.code == BLOCKED
    assert scanned.out.startswith("### `silver.orders`: would have newly blocked 1 of 2 runs")
    assert "| `row_count` | 2 of 2 (100.0%)" in scanned.out
    assert "the run published no version" in scanned.out
    chosen = shop.type(f"lakeguard backtest {file} --dataset gold.nothing")
    assert (chosen.code, "LG-1220" in chosen.err) == (2, True)


def test_a_rule_that_does_not_compile_is_shown_in_its_place(shop: Terminal) -> None:
    result = shop.type(f"lakeguard backtest {draft(shop, 'range(amuont, max=1)')}")
    assert result.code == 2
    assert "amuont" in result.err
    assert "draft.yaml" in result.err


def test_everything_is_decided_again(shop: Terminal) -> None:
    result = shop.type("lakeguard replay --all")
    assert (result.code, "✓ IDENTICAL" in result.out) == (0, True)
    count = shop.type("lakeguard replay --all --json").data["replays"]["decisions"]
    part = shop.type("lakeguard replay --all --dataset silver.orders --since 1d --json")
    assert 0 < part.data["replays"]["decisions"] < count
    assert shop.type("lakeguard replay").code == 2
    assert shop.type("lakeguard replay --all --rebuild").code == 2


def test_a_run_is_built_again(shop: Terminal) -> None:
    runs = shop.type("lakeguard runs silver.orders --json").data["runs"]
    published = next(run["run_id"] for run in runs if run["version"] == 1)
    result = shop.type(f"lakeguard replay {published} --rebuild")
    assert (result.code, "✓ SAME ROWS" in result.out) == (0, True)
    ingested = shop.type("lakeguard runs bronze.orders --json").data["runs"][0]["run_id"]
    assert shop.type(f"lakeguard replay {ingested} --rebuild").code == 0
    file = shop.folder / "data" / "orders-2026-01-07.csv"
    kept = file.read_bytes()
    file.write_bytes(kept + b"\n")
    result = shop.type(f"lakeguard replay {ingested} --rebuild")
    assert result.code == 1
    assert "LG-5021" in result.err
    assert "has changed since the run" in result.err
    file.write_bytes(kept)


def test_two_runs_side_by_side(shop: Terminal) -> None:
    runs = shop.type("lakeguard runs silver.orders --json").data["runs"]
    blocked, published = runs[0]["run_id"], runs[-1]["run_id"]
    result = shop.type(f"lakeguard diff {published} {blocked}")
    assert result.code == 0
    for words in ("verdict", "ALLOWED", "BLOCKED", "input bronze.orders", "Checks"):
        assert words in result.out
