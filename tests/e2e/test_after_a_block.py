"""Every way out that ``why`` prints for a blocked run is typed as it is printed, and works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.terminal import Terminal

pytestmark = pytest.mark.spark

BLOCKED = 3
GOOD = (
    "order_id,ordered_at,customer_email,country,amount,status\n"
    "1030,2026-01-09T08:00:00Z,lea@example.com,de,12.00,paid\n"
)
WIDER = GOOD.replace(",status\n", ",status,coupon\n").replace(",paid\n", ",paid,SPRING\n")


@pytest.fixture
def shop(tmp_path: Path) -> Terminal:
    """The example, promoted once and blocked by a file with mistakes."""
    terminal = Terminal(tmp_path)
    for line in ("lakeguard init shop --example", "cd shop", "lakeguard apply"):
        assert terminal.type(line).code == 0
    assert terminal.type("lakeguard run --all").code == 0
    terminal.type("cp incoming/orders-2026-01-07.csv data/")
    assert terminal.type("lakeguard run bronze.orders").code == 0
    assert terminal.type("lakeguard run silver.orders").code == BLOCKED
    return terminal


def printed(terminal: Terminal, name: str = "silver.orders") -> dict[str, str]:
    """Each way out, by what it is for, as the screen has it and not the JSON."""
    lines = terminal.type(f"lakeguard why {name}").out.partition("Next steps\n")[2].splitlines()
    whens, commands = lines[::2], lines[1::2]
    assert all(when.endswith(":") for when in whens)
    return {
        when.strip().rstrip(":"): command.strip()
        for when, command in zip(whens, commands, strict=True)
    }


def typed(terminal: Terminal, command: str) -> list[int]:
    """The exit codes of a line, as a shell goes along it, with its placeholders filled in."""
    codes: list[int] = []
    filled = command.replace("…", "the export was wrong").replace(" NAME", " dana")
    for part in filled.split(" && "):
        codes.append(terminal.type(part).code)
        if codes[-1]:
            break
    return codes


def only(ways: dict[str, str], word: str) -> str:
    (found,) = [command for command in ways.values() if f" {word} " in command]
    return found


def test_back_to_what_was_right(shop: Terminal) -> None:
    ways = printed(shop)
    assert typed(shop, only(ways, "rollback")) == [0]
    (shop.folder / "data" / "orders-2026-01-07.csv").unlink()
    (shop.folder / "data" / "orders-2026-01-09.csv").write_text(GOOD)
    assert shop.type("lakeguard run bronze.orders").code == 0
    again = ways["After fixing the data or the build"]
    assert again == "lakeguard run silver.orders"
    assert typed(shop, again) == [0]
    assert "✓ SUCCESS" in shop.type("lakeguard why silver.orders").out


def test_a_rule_that_is_changed(shop: Terminal) -> None:
    ways = printed(shop)
    assert typed(shop, ways["After fixing the data or the build"]) == [BLOCKED], "it was not"
    file = shop.folder / "definitions" / "silver" / "orders.yaml"
    text = file.read_text("utf-8")
    softer = text.replace("range(min=0", "range(min=-100").replace(
        "unique(order_id)", "unique(order_id) fail_if > 50%"
    )
    file.write_text(softer)
    command = ways["The rule was wrong: change its definition"]
    assert typed(shop, command) == [0, 0], shop.results[-1]
    result = shop.type("lakeguard why silver.orders").out
    assert "rule range" in result
    assert "→ range(amount, min=-100" in result


def test_somebody_who_answers_for_it(shop: Terminal) -> None:
    ways = printed(shop)
    waivers = [command for command in ways.values() if " waive " in command]
    assert len(waivers) == 2, "one for each rule that failed"
    for command in waivers:
        assert typed(shop, command) == [0], shop.results[-1]
    assert typed(shop, "lakeguard run silver.orders") == [0]
    result = shop.type("lakeguard why silver.orders").out
    assert result.count("! WARN") == 2
    assert "waived by dana" in result


def test_a_schema_that_is_right(shop: Terminal) -> None:
    """A column is new, the profile is strict, and somebody says that the column is right."""
    file = shop.folder / "definitions" / "bronze" / "orders.yaml"
    file.write_text(file.read_text("utf-8") + "schema: {profile: strict}\n")
    assert shop.type("lakeguard apply").code == 0, shop.results[-1]
    for old in (shop.folder / "data").glob("*.csv"):
        old.unlink()
    (shop.folder / "data" / "orders-2026-01-09.csv").write_text(WIDER)
    assert shop.type("lakeguard run bronze.orders").code == BLOCKED, shop.results[-1]
    ways = printed(shop, "bronze.orders")
    result = shop.results[-1].out
    assert "column coupon" in result
    assert typed(shop, only(ways, "diff")) == [0]
    assert typed(shop, only(ways, "approve")) == [0], shop.results[-1]
    assert typed(shop, ways["After fixing the data or the build"]) == [0], shop.results[-1]


def test_the_screen_shows_numbers_rows_and_what_is_new(shop: Terminal) -> None:
    result = shop.type("lakeguard why silver.orders")
    lines = result.out.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("  range("))
    assert lines[at + 1].strip().startswith("▁█  2 runs: 0 of 10 rows first, 1 of 3 rows now")
    assert "-35" in "\n".join(lines[at + 2 : at + 4])
    assert "input bronze.orders   v1 → v2" in result.out
    data = shop.type("lakeguard why silver.orders --json").data
    assert [way["command"] for way in data["next_commands"]] == list(printed(shop).values())
    fresh = shop.type("lakeguard why bronze.orders").out
    assert "1 new file" in fresh
    assert "orders-2026-01-07.csv (" in fresh
