"""Remeasuring a version gives the values of its run's evidence, long after the run."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakeguard.gate.rules.compile import define_rule, measures_for
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk.client import remeasure
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import VersionUnreadable
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.history import Remeasured
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Window
from tests.support.cases.load_variants import VARIANTS
from tests.support.lakes.loaded_tables import TABLE, LoadedTable, Row
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

COLUMNS = {"k": "long", "n": "long", "v": "string", "g": "string", "at": "timestamp"}
RULES = (
    "not_null(v) fail_if > 100",
    "range(n, max=3) fail_if > 100",
    "unique(k) fail_if > 100",
    "unique(v) scope batch fail_if > 100",
    "mean(n, max=1000)",
    "foreign_key(n -> bronze.things(k)) fail_if > 100",
    "row_count(min=1) scope table",
)
ORDERS = DatasetName("bronze.orders")
FILES: dict[str, str | bytes] = {
    "definitions/sources/codes.yaml": "source: codes\nformat: csv\npath: codes/*.csv\n",
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/codes.yaml": """\
dataset: bronze.codes
owner: tests
domain: shop
source: codes
load: {type: APPEND}
columns: {code: {type: string}}
""",
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns: {id: {type: long}, code: {type: string}}
""",
}
LOADS = [
    pytest.param(load, id=f"{kind} {name}")
    for kind, variants in VARIANTS.items()
    for name, load in list(variants.items())[:2]
]


def rules(texts: tuple[str, ...]) -> tuple[RuleDefinition, ...]:
    parsed = (parse_rule(text) for text in texts)
    return tuple(
        define_rule(rule, rule_id=f"r{at}", severity=None) for at, rule in enumerate(parsed)
    )


def batch(load: Load, *keys: int, n: int = 0) -> list[Row]:
    given = {"at": datetime(2026, 1, 1 + n, tzinfo=UTC)} | ({"op": "u"} if load.operation else {})
    return [
        {"k": k, "n": n + k, "v": None if k % 3 else f"v{k % 2}", "g": f"g{k % 2}", **given}
        for k in keys
    ]


def remeasured(table: LoadedTable, version: int) -> Remeasured:
    assert table.heard.plan is not None
    return remeasure(table.client.history.remeasure_plan(TABLE, version, table.heard.plan.measures))


def agrees(expected: Remeasured, evidence: Evidence | None) -> None:
    assert evidence is not None
    assert expected.unmeasured == {}
    assert expected.values == evidence.measures
    assert (expected.rows, expected.table_rows) == (evidence.rows, evidence.table_rows)


@pytest.mark.parametrize("load", LOADS)
def test_remeasuring_agrees_with_the_evidence_of_its_run(tmp_path: Path, load: Load) -> None:
    table = LoadedTable(tmp_path / "project", load, COLUMNS, rules(RULES))
    heard: dict[int, Evidence | None] = {}
    for step, keys in enumerate([(1, 2, 3, 4), (3, 4, 5, 6), (7, 8, 1)]):
        table.land(batch(load, *keys, n=step), alone=True)
        result = table.run()
        assert result.status is RunStatus.SUCCESS, result
        if result.version is not None:
            heard[result.version] = table.heard.evidence
    assert len(heard) >= 2
    for version, evidence in heard.items():
        agrees(remeasured(table, version), evidence)


def test_a_back_fill_brought_no_more_than_its_window(tmp_path: Path) -> None:
    load = VARIANTS[LoadType.FULL]["plain"]
    table = LoadedTable(tmp_path / "project", load, COLUMNS, rules(RULES))
    table.land(batch(load, 1, 2, 3, 4))
    assert table.run().version == 1
    table.land([*batch(load, 1), *batch(load, 2, n=1)], alone=True)
    filled = table.run(Window(column="k", start="2", end="2"))
    assert filled.version == 2, filled
    assert table.heard.evidence is not None
    assert table.heard.evidence.rows == 1
    agrees(remeasured(table, 2), table.heard.evidence)


def test_what_only_the_files_of_updates_told_is_not_guessed(tmp_path: Path) -> None:
    """Rows of the table are measured as before; for the batch there is a reason instead."""
    load = VARIANTS[LoadType.INCREMENTAL]["plain"]
    table = LoadedTable(tmp_path / "project", load, COLUMNS, rules(RULES))
    for step in range(2):
        table.land(batch(load, 1, *range(3 + step, 6), n=step), alone=True)
        assert table.run().version == step + 1
    evidence = table.heard.evidence
    assert evidence is not None
    location, _ = table.at()
    (changes,) = Path(location).glob("runs/*/changes/lg_op=U")
    shutil.rmtree(changes)
    reported = remeasured(table, 2)
    assert set(reported.unmeasured.values()) == {
        "only 0 of the 3 rows that v2 added are in separate files"
    }
    assert len(reported.values) == 3
    assert reported.values.items() <= evidence.measures.items()


def test_files_that_are_gone_are_an_error_and_no_number(tmp_path: Path) -> None:
    load = VARIANTS[LoadType.FULL]["plain"]
    table = LoadedTable(tmp_path / "project", load, COLUMNS, rules(RULES))
    table.land(batch(load, 1, 2))
    assert table.run().version == 1
    location, _ = table.at()
    (file,) = Path(location).rglob("*.parquet")
    file.unlink()
    with pytest.raises(VersionUnreadable, match="1 of its 1 files are missing, such as runs/"):
        remeasured(table, 1)


def test_keys_are_held_against_the_version_that_the_run_had_pinned(tmp_path: Path) -> None:
    client = applied(tmp_path, FILES)
    (tmp_path / "codes").mkdir()
    (tmp_path / "codes" / "1.csv").write_text("code\nA\n")
    assert run(client, "bronze.codes").version == 1
    write_files(tmp_path, a="id,code\n1,A\n2,B\n")
    assert run(client, ORDERS).version == 1
    (tmp_path / "codes" / "2.csv").write_text("code\nB\n")
    assert run(client, "bronze.codes").version == 2
    schema = client.reader.definition(ORDERS).table_schema
    drafted = rules(("foreign_key(code -> bronze.codes(code))",))
    asked = measures_for(drafted, schema)
    then = remeasure(client.history.remeasure_plan(ORDERS, 1, asked))
    assert then.unmeasured == {}
    assert sorted(map(str, then.values.values())) == ["1", "2", "2"]
