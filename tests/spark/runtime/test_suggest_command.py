"""``lakeguard suggest`` over published versions, and the suggestions of ``source add``."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from lakeguard.cli.main import call
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.folders import (
    SETTINGS,
    applied,
    apply_again,
    run,
)

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

ORDERS = "bronze.orders"
DEFINITION = """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
columns:
  order_id: {type: long}
  code: {type: string}
  mail: {type: string, tags: [pii]}
  qty: {type: integer}
  grade: {type: integer}
  seen_at: {type: timestamp}
  note: {type: string}
  extra: {type: integer}
rules:
  - range(qty, min=0)
"""
FILES: dict[str, str | bytes] = {
    "definitions/sources/codes.yaml": "source: codes\nformat: csv\npath: codes.csv\n",
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: orders.csv\n",
    "definitions/bronze/codes.yaml": (
        "dataset: bronze.codes\nowner: tests\ndomain: shop\nsource: codes\n"
        "columns: {code: {type: string}}\nrules: [unique(code)]\n"
    ),
    "definitions/bronze/orders.yaml": DEFINITION,
    "codes.csv": "code\n" + "".join(f"C{n}\n" for n in range(40)),
}
Say = Callable[..., tuple[int, str]]


def orders(rows: int, *, without_note: int = 0) -> str:
    at = datetime.now(UTC) - timedelta(hours=2)
    lines = ["order_id,code,mail,qty,grade,seen_at,note,extra"]
    for n in range(rows):
        note = "" if n < without_note else "kept"
        extra = "" if n % 3 else n
        seen_at = f"{at:%Y-%m-%dT%H:%M:%SZ}"
        lines.append(f"{n},C{n % 40},u{n}@example.org,{n % 90},{n % 4},{seen_at},{note},{extra}")
    return "\n".join(lines) + "\n"


def land(folder: Path, client: Client, text: str) -> None:
    (folder / "orders.csv").write_text(text)
    ended = run(client, ORDERS)
    assert ended.status is RunStatus.SUCCESS, ended


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions; the first has rows without a note."""
    folder = tmp_path_factory.mktemp("suggest")
    client = applied(folder, FILES)
    assert run(client, "bronze.codes").status is RunStatus.SUCCESS
    land(folder, client, orders(400, without_note=7))
    land(folder, client, orders(420))
    land(folder, client, orders(440))
    return folder


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    def expected(*words: object) -> tuple[int, str]:
        capsys.readouterr()
        code = call([str(word) for word in words])
        return code, capsys.readouterr().out

    return expected


def suggested(say: Say, lake: Path, *more: str) -> dict[str, dict[str, Any]]:
    code, out = say("--project", lake, "suggest", ORDERS, "--json", *more)
    assert code == 0, out
    return {item["rule"]: item for item in json.loads(out)["suggestions"]}


def test_every_suggestion_has_its_evidence(lake: Path, say: Say) -> None:
    found = suggested(say, lake)
    assert {
        *("not_null(order_id)", "unique(order_id)", "not_null(mail)", "range(grade, min=0, max=3)"),
        "foreign_key(code -> bronze.codes(code))",
        "row_count(min=200)",
        "null_drift(extra, max=5%)",
        "not_future(seen_at)",
    } <= set(found)
    assert any(rule.startswith("freshness(seen_at, max='") for rule in found)
    one = found["range(grade, min=0, max=3)"]
    assert (one["support"], one["severity"], one["column"]) == (440, "WARN", "grade")
    assert [(held["version"], held["failed_rows"]) for held in one["results"]] == [
        (3, 0),
        (2, 0),
        (1, 0),
    ]
    assert one["fails_on"] == "grade of one row set to 33"


def test_what_an_earlier_version_breaks_is_weak_and_says_so(lake: Path, say: Say) -> None:
    assert "not_null(note)" not in suggested(say, lake)
    weak = suggested(say, lake, "--all")["not_null(note)"]
    assert [held["failed_rows"] for held in weak["results"]] == [0, 0, 7]
    assert "not_null(note)" in suggested(say, lake, "--versions", "2")


def test_nothing_is_said_of_values_with_a_tag_nor_what_is_said_already(
    lake: Path, say: Say
) -> None:
    found = suggested(say, lake, "--all")
    assert {rule for rule in found if "mail" in rule} == {"not_null(mail)"}
    assert "example.org" not in json.dumps(found)
    assert not any(item["about"] == "values" and item["column"] == "qty" for item in found.values())


def test_the_yaml_can_be_pasted_and_then_there_is_nothing_left(lake: Path, say: Say) -> None:
    code, out = say("--project", lake, "suggest", ORDERS)
    assert code == 0
    assert out.startswith("# bronze.orders v3: ")
    assert "violations: v3 0, v2 0, v1 0; fails on: grade of one row set to 33" in out
    fragment = yaml.safe_load(out)
    whole = yaml.safe_load(DEFINITION)
    for name, given in fragment["columns"].items():
        whole["columns"][name]["rules"] = given["rules"]
    whole["rules"] += fragment["rules"]
    file = lake / "definitions" / "bronze" / "orders.yaml"
    try:
        file.write_text(yaml.safe_dump(whole, sort_keys=False))
        client = connect(lake)
        apply_again(client, lake)
        code, out = say("--project", lake, "suggest", ORDERS, "--json")
        assert (code, json.loads(out)["suggestions"]) == (0, [])
        ended = run(client, ORDERS)
        assert ended.decision is not None
        checks = [c for c in ended.decision.ruling.checks if c.kind is CheckKind.RULE]
        assert {check.outcome for check in checks} == {Outcome.PASS}, checks
        assert len(checks) > 10
    finally:
        file.write_text(DEFINITION)
        apply_again(connect(lake), lake)


def test_a_file_is_written_once(lake: Path, say: Say, tmp_path: Path) -> None:
    out = tmp_path / "rules.yaml"
    assert say("--project", lake, "suggest", ORDERS, "--out", out)[0] == 0
    before = out.read_text()
    assert set(yaml.safe_load(before)) == {"columns", "rules"}
    assert say("--project", lake, "suggest", ORDERS, "--out", out, "--all")[0] == 2
    assert out.read_text() == before


def test_what_nothing_is_published_of_has_nothing_to_suggest(tmp_path: Path, say: Say) -> None:
    applied(tmp_path, FILES)
    code, out = say("--project", tmp_path, "suggest", ORDERS, "--json")
    assert (code != 0, json.loads(out)["error"]["code"]) == (True, "LG-1004"), out


def test_a_source_is_proposed_with_rules_that_its_run_keeps(tmp_path: Path, say: Say) -> None:
    """As Spark reads the file, not only the inspection."""
    write_folder(tmp_path, {**SETTINGS, "orders.csv": orders(300)})
    code, out = say("--project", tmp_path, "source", "add", "orders", tmp_path / "orders.csv")
    assert code == 0
    assert "rules suggested from 300 rows" in out
    text = (tmp_path / "definitions" / "bronze" / "orders.yaml").read_text()
    assert "# 300 values lie between 0 and 3, and every whole number between them comes\n" in text
    (dataset,) = load_folder(tmp_path).datasets
    given = {rule.expression: rule.severity for rule in dataset.rules}
    assert given["unique(order_id)"] == "FAIL"
    assert given["range(grade, min=0, max=3)"] == "WARN"
    assert given["regex(code, pattern='[A-Z][0-9]{1,2}')"] == "WARN"
    assert given["format(mail, kind='email')"] == "WARN"
    client = connect(tmp_path)
    apply_again(client, tmp_path)
    ended = run(client, ORDERS)
    assert ended.decision is not None
    checks = [c for c in ended.decision.ruling.checks if c.kind is CheckKind.RULE]
    assert len(checks) == len(dataset.rules) > 10
    assert {check.outcome for check in checks} == {Outcome.PASS}, checks
