"""A dirty file, and all that the lake remembers of it: one person's day, typed line by line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.projects.definition_folders import write_folder
from tests.support.projects.terminal import Terminal

pytestmark = pytest.mark.spark

SILVER = """\
dataset: silver.orders
owner: shop-team
domain: sales
parents: [bronze.orders]
build: {sql: sql/orders.sql}
load: {type: APPEND}
columns:
  order_id: {type: long, required: true}
  email:    {type: string, tags: [pii]}
  country:  {type: string, rules: ["in_set(values=['DE', 'FR']) on_fail quarantine"]}
  amount:   {type: "decimal(12,2)", rules: ["range(min=0) on_fail quarantine"]}
rules:
  - unique(order_id)
"""
FILES: dict[str, str | bytes] = {
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: exports/*.csv\n",
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: shop-team
domain: sales
source: orders
load: {type: APPEND}
columns:
  order_id: {type: long}
  email:    {type: string, tags: [pii]}
  country:  {type: string}
  amount:   {type: "decimal(12,2)"}
""",
    "definitions/silver/orders.yaml": SILVER,
    "sql/orders.sql": "SELECT order_id, email, country, amount FROM bronze.orders\n",
}
HEADER = "order_id,email,country,amount\n"
MONDAY = HEADER + "1,ada@example.com,DE,129.90\n2,ben@example.com,FR,15.00\n"
TUESDAY = (
    HEADER
    + "3,cleo@example.com,DE,20.00\n4,dirk@example.com,NL,48.50\n"
    + "5,eva@example.com,FR,-5.00\n6,fay@example.com,NL,310.00\n"
)
WEDNESDAY = HEADER + "7,gus@example.com,NL,9.99\n"
BLOCKED = 3
WITH_NL = SILVER.replace("['DE', 'FR']", "['DE', 'FR', 'NL']")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """Monday went well."""
    terminal = Terminal(tmp_path_factory.mktemp("journey"))
    done(terminal, "lakeguard init shop")
    terminal.type("cd shop")
    write_folder(terminal.folder, {**FILES, "exports/monday.csv": MONDAY})
    done(terminal, "lakeguard apply")
    done(terminal, "lakeguard run --all")
    return terminal


def done(shop: Terminal, line: str, code: int = 0) -> str:
    """What the line printed; it ended as it should."""
    result = shop.type(line)
    assert result.code == code, result
    return result.out


def described(shop: Terminal, line: str, code: int = 0) -> Any:
    result = shop.type(f"{line} --json")
    assert result.code == code, result
    return result.data


def balance(shop: Terminal) -> dict[str, Any]:
    (found,) = described(shop, "lakeguard quarantine list silver.orders")["balances"]
    assert found["adds_up"]
    names = ("read", "published", "quarantined", "discarded", "malformed")
    return {name: found[name] for name in names}


def backtested(shop: Terminal, draft: str, code: int = 0) -> list[dict[str, Any]]:
    """What the draft would have made of past runs; with the exit code of a check."""
    write_folder(shop.folder, {"drafts/orders.yaml": draft})
    found: list[dict[str, Any]] = described(
        shop, "lakeguard backtest drafts/orders.yaml --scan --check", code
    )["backtests"]
    return found


def last_runs(shop: Terminal) -> list[str]:
    """Of silver.orders, the newest first."""
    return [run["run_id"] for run in described(shop, "lakeguard runs silver.orders")["runs"]]


def test_rows_that_fail_wait_and_the_others_are_published(shop: Terminal) -> None:
    (shop.folder / "exports" / "tuesday.csv").write_text(TUESDAY, "utf-8")
    done(shop, "lakeguard run bronze.orders")
    ran = done(shop, "lakeguard run silver.orders")
    assert ran.startswith("✓ PROMOTED  silver.orders v2")
    assert balance(shop) == {
        "read": 6,
        "published": 3,
        "quarantined": 3,
        "discarded": 0,
        "malformed": 0,
    }


def test_it_is_told_why_they_wait(shop: Terminal) -> None:
    why = done(shop, "lakeguard why silver.orders")
    assert "in_set" in why
    assert "lakeguard quarantine show silver.orders" in why
    kept = described(shop, "lakeguard quarantine list silver.orders")["quarantine"]
    assert {item["rule_id"]: (item["rows"], item["state"]) for item in kept} == {
        "in_set.country": (2, "QUARANTINED"),
        "range.amount": (1, "QUARANTINED"),
    }
    shown = described(shop, "lakeguard quarantine show silver.orders --rule in_set.country")
    place = shown["columns"].index
    assert sorted(row[place("order_id")] for row in shown["rows"]) == ["4", "6"]
    assert {row[place("country")] for row in shown["rows"]} == {"NL"}
    assert shown["masked"] == ["email"]
    assert "dirk@example.com" not in done(shop, "lakeguard quarantine show silver.orders")


def test_the_new_rule_is_held_against_the_past_before_it_is_applied(shop: Terminal) -> None:
    (test,) = backtested(shop, WITH_NL)
    assert (test["dataset"], test["blocks"]) == ("silver.orders", [])
    dear = WITH_NL.replace("  - unique(order_id)", "  - unique(order_id)\n  - max(amount, max=100)")
    (test,) = backtested(shop, dear, code=BLOCKED)
    assert test["blocks"] == last_runs(shop)[-1:]


def test_after_the_rule_is_mended_the_rows_are_sent_again(shop: Terminal) -> None:
    write_folder(shop.folder, {"definitions/silver/orders.yaml": WITH_NL})
    done(shop, "lakeguard apply")
    sent = done(shop, "lakeguard quarantine replay silver.orders --rule in_set.country")
    assert sent.startswith("✓ PROMOTED  silver.orders v3   2 rows")
    assert balance(shop) == {
        "read": 6,
        "published": 5,
        "quarantined": 1,
        "discarded": 0,
        "malformed": 0,
    }


def test_what_is_given_up_is_discarded_with_a_reason(shop: Terminal) -> None:
    done(shop, "lakeguard quarantine discard silver.orders --rule range.amount", code=2)
    done(shop, 'lakeguard quarantine discard silver.orders --rule range.amount --reason "a test"')
    assert balance(shop) == {
        "read": 6,
        "published": 5,
        "quarantined": 0,
        "discarded": 1,
        "malformed": 0,
    }
    kept = described(shop, "lakeguard quarantine list silver.orders --all")["quarantine"]
    assert {item["rule_id"]: item["state"] for item in kept} == {
        "in_set.country": "REPLAYED",
        "range.amount": "DISCARDED",
    }
    assert "QUARANTINED" not in done(shop, "lakeguard quarantine list")


def test_a_profile_shows_what_is_published_and_no_address(shop: Terminal) -> None:
    text = done(shop, "lakeguard profile silver.orders")
    assert text.startswith("silver.orders@v3   5 rows, 4 columns")
    found = described(shop, "lakeguard profile silver.orders")
    columns = {column["column"]: column for column in found["columns"]}
    countries = {item["value"]: item["rows"] for item in columns["country"]["top"]}
    assert countries == {"DE": 2, "FR": 1, "NL": 2}
    assert (columns["amount"]["least"], columns["amount"]["greatest"]) == ("15.00", "310.00")
    assert columns["email"]["masked"]
    assert "example.com" not in text + str(found)
    earlier = described(shop, "lakeguard profile silver.orders@v1")
    assert (earlier["version"], earlier["rows"]) == (1, 2)


def test_what_is_suggested_would_have_blocked_nothing(shop: Terminal) -> None:
    done(shop, "lakeguard suggest silver.orders --all --out drafts/suggested.yaml")
    text = (shop.folder / "drafts" / "suggested.yaml").read_text("utf-8")
    assert "example.com" not in text
    pasted = "  - row_count(min=1)\n"
    assert pasted in text
    (test,) = backtested(shop, WITH_NL + pasted)
    assert test["blocks"] == []
    write_folder(shop.folder, {"definitions/silver/orders.yaml": WITH_NL + pasted})
    done(shop, "lakeguard apply")


def test_two_runs_side_by_side(shop: Terminal) -> None:
    sent_again, dirty, first = last_runs(shop)
    text = done(shop, f"lakeguard diff {first} {dirty}")
    assert "input bronze.orders   v1 → v2" in text
    found = described(shop, f"lakeguard diff {first} {dirty}")["diff"]
    figures = {item["name"]: (item["before"], item["after"]) for item in found["figures"]}
    assert (figures["table rows"], figures["quarantined"]) == (("2", "3"), (None, "3"))
    checks = {item["check_id"]: item for item in found["checks"]}
    country = checks["in_set.country"]
    assert (country["before"]["outcome"], country["after"]["outcome"]) == ("PASS", "WARN")
    mended = described(shop, f"lakeguard diff {dirty} {sent_again}")["diff"]["differences"]
    rules = [item for item in mended if item["subject"] == "rule"]
    assert [item["name"] for item in rules] == ["in_set.country"]
    assert "'NL'" in rules[0]["after"]
    same = described(shop, f"lakeguard diff {first} {first}")["diff"]
    assert (same["differences"], same["before"]) == ([], same["after"])


def test_the_next_day_goes_on_where_the_source_was_left(shop: Terminal) -> None:
    """Rows that were replayed moved nothing: neither are others read twice, nor left out."""
    (shop.folder / "exports" / "wednesday.csv").write_text(WEDNESDAY, "utf-8")
    done(shop, "lakeguard run bronze.orders")
    ran = done(shop, "lakeguard run silver.orders")
    assert ran.startswith("✓ PROMOTED  silver.orders v4   1 row")
    assert balance(shop) == {
        "read": 7,
        "published": 6,
        "quarantined": 0,
        "discarded": 1,
        "malformed": 0,
    }


def test_the_past_is_decided_as_it_was_and_built_as_it_was(shop: Terminal) -> None:
    """Though a rule was mended since, and another added."""
    text = done(shop, "lakeguard replay --all")
    assert text.startswith("✓ IDENTICAL  7 decisions repeated")
    silver = described(shop, "lakeguard replay --all --dataset silver.orders")["replays"]
    assert (silver["decisions"], silver["differences"]) == (4, [])
    wednesday, sent_again, dirty, first = last_runs(shop)
    for run in (wednesday, sent_again, dirty, first):
        assert described(shop, f"lakeguard replay {run}")["replay"]["identical"]
        assert described(shop, f"lakeguard replay {run} --rebuild")["rebuild"]["same"]


def test_all_of_it_is_proven_and_outlives_the_database(shop: Terminal) -> None:
    done(shop, "lakeguard verify")
    before = described(shop, "lakeguard quarantine list --all")
    done(shop, "rm .lakeguard/state.db")
    done(shop, "lakeguard rebuild")
    assert described(shop, "lakeguard quarantine list --all") == before
    done(shop, "lakeguard verify")
    done(shop, "lakeguard replay --all")
