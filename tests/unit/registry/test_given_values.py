"""Given values are written only where they still mean what is registered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lakeguard.registry.kinds import Key, every, gathered, hash_of, key_of
from lakeguard.registry.rows import read_rows
from lakeguard.registry.rows.assemble import assemble
from lakeguard.registry.rows.write_rows import Written, csv_files
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk import DatasetName
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definition,
    Definitions,
)
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.registries import SmallRegistry, small_registry
from tests.unit.registry.rows.loads import OBJECT, SOURCE
from tests.unit.registry.rows.row_files import good

JOB = """
INSERT INTO md_jobs (job_id, job_name, status) VALUES (1, 'Nightly', 'Enabled');
INSERT INTO md_jobconfig (job_id, config_name, config_value)
    VALUES (1, 'status#ActiveConfig', 'false');
"""
SALES = DatasetName("silver.sales")
PENDING = """
INSERT INTO dataset_registry (dataset_id, dataset_name, layer, domain, owner, details) VALUES
"""


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    with small_registry(tmp_path) as found:
        yield found


def load(registry: SmallRegistry, text: str) -> None:
    registry.load(good("rows.sql", text))


def hashes(found: Definitions) -> dict[Key, str]:
    return {key_of(item): hash_of(item) for item in every(found)}


def exported(registry: SmallRegistry, folder: Path) -> dict[str, list[Written]]:
    """What is exported is what is registered, read by somebody who has nothing else."""
    tables = registry.export()
    findings = Findings()
    files = sorted(write_folder(folder / "out", csv_files(tables)).iterdir())
    found = assemble(read_rows(files, findings), Definitions(), findings)
    assert [f"{error.place} {error}" for error in findings.errors()] == []
    assert hashes(found) == hashes(registry.definitions())
    return tables


def revise(registry: SmallRegistry, change: Callable[[Definition], dict[str, object]]) -> None:
    """Change definitions as a file would."""
    found = every(registry.definitions())
    registry.register(gathered(item.model_copy(update=change(item)) for item in found))


def test_a_job_that_its_configuration_disabled(registry: SmallRegistry, tmp_path: Path) -> None:
    load(registry, JOB)
    (row,) = exported(registry, tmp_path)["md_jobs"]
    assert row["status"] == "Enabled"
    revise(registry, lambda job: {"config": {}})
    (row,) = exported(registry, tmp_path)["md_jobs"]
    assert (row["job_name"], row["status"]) == ("Nightly", "DISABLED")


def test_positions_are_given_back_until_a_column_comes_between(
    registry: SmallRegistry, tmp_path: Path
) -> None:
    columns = "(7, 'Customer ID#', 10, 'varchar(20)'), (7, 'Amount', 20, 'double')"
    start = OBJECT.partition("INSERT INTO source_object_columns")[0]
    load(registry, f"{start} INSERT INTO source_object_columns (source_object_id, column_name,"
                   f" ordinal_position, data_type) VALUES {columns};")  # fmt: skip
    rows = exported(registry, tmp_path)["source_object_columns"]
    assert [row["ordinal_position"] for row in rows] == ["10", "20"]
    between = ColumnDefinition(name="between", type="string")

    def widened(item: Definition) -> dict[str, object]:
        if item.kind != "dataset":
            return {}
        return {"columns": (item.columns[0], between, item.columns[1])}

    revise(registry, widened)
    rows = exported(registry, tmp_path)["source_object_columns"]
    assert [row["ordinal_position"] for row in rows] == [1, 2, 3]
    assert [row["column_name"] for row in rows] == ["Customer ID#", "between", "Amount"]


def test_details_that_are_only_a_part_are_written_whole(
    registry: SmallRegistry, tmp_path: Path
) -> None:
    load(registry, f"{PENDING} (1, 'Orders', 'Silver', 'shop', 'sales', '{{\"a\":\"1\"}}');")
    (row,) = exported(registry, tmp_path)["dataset_registry"]
    assert (row["layer"], row["details"]) == ("Silver", '{"a":"1"}')
    load(registry, f"{PENDING} (1, 'Orders', 'Silver', 'shop', 'sales', '{{\"b\":\"2\"}}');")
    (row,) = exported(registry, tmp_path)["dataset_registry"]
    assert (row["layer"], row["details"]) == ("Silver", '{"a": "1", "b": "2"}')


def test_an_id_that_two_loads_gave_to_two_datasets(registry: SmallRegistry, tmp_path: Path) -> None:
    for layer in ("Silver", "Gold"):
        load(registry, f"{PENDING} ('orders', 'Orders', '{layer}', 'shop', 'sales', '{{}}');")
    rows = exported(registry, tmp_path)["dataset_registry"]
    assert sorted(str(row["dataset_name"]) for row in rows) == ["Orders", "Orders"]
    assert len({row["dataset_id"] for row in rows}) == 2


def test_an_id_that_others_do_not_use(registry: SmallRegistry, tmp_path: Path) -> None:
    """A dataset from a file is exported with the external id of its source."""
    load(registry, OBJECT)
    load(registry, SOURCE.replace("source_id, source_name", "external_id, source_id, source_name")
         .replace("(1, 'CRM Export', 'Y')", "('X', 'crm_export', 'CRM Export', 'Y')")
         .replace("(1, 'format'", "('crm_export', 'format'")
         .replace("(1, 'path'", "('crm_export', 'path'"))  # fmt: skip
    found = exported(registry, tmp_path)
    assert [row["source_id"] for row in found["md_src_ctrl"]] == ["crm_export"]
    assert [row["enabled"] for row in found["md_src_ctrl"]] == ["Y"]


def test_names_of_columns_in_the_source_identify_a_load(
    registry: SmallRegistry, tmp_path: Path
) -> None:
    keyed = OBJECT.replace("owner, domain)", "owner, domain, load_type, business_keys)").replace(
        "'sales', 'shop')", "'sales', 'shop', 'incremental', 'Customer ID#')"
    )
    load(registry, keyed)
    found = exported(registry, tmp_path)
    assert [row["business_keys"] for row in found["source_objects"]] == ["Customer ID#"]
    assert [row["business_keys"] for row in found["dataset_registry"]] == ['["customer_id"]']


def test_a_renamed_dataset_has_them_still(registry: SmallRegistry, tmp_path: Path) -> None:
    load(registry, f"{PENDING} (1, 'orders', 'SILVER', ' shop', 'sales ', '{{}}');")
    revise(
        registry, lambda item: {"dataset": SALES, "renamed_from": getattr(item, "dataset", None)}
    )
    (row,) = exported(registry, tmp_path)["dataset_registry"]
    assert (row["dataset_name"], row["layer"]) == ("silver.sales", "SILVER")
    assert (row["domain"], row["owner"]) == (" shop", "sales ")


def test_neither_the_time_nor_a_secret_is_stored(registry: SmallRegistry) -> None:
    secret = "postgresql://me:hunter2secret@host/db"
    load(registry, "INSERT INTO source_systems (source_system_id, source_name, system_name,"
                   " source_type, created_at, updated_by)"
                   f" VALUES (1, 'CRM', '{secret}', 'Csv', CURRENT_TIMESTAMP, 'Somebody');"
                   " INSERT INTO md_src_det (source_id, detail_name, detail_value)"
                   " VALUES (1, 'path', 'x.csv');")  # fmt: skip
    (row,) = registry.rows("given_values")
    assert row["given"] == '[["source_systems",[],"source_name","crm","CRM"]]'


def test_the_same_rows_again_are_no_revision(registry: SmallRegistry) -> None:
    load(registry, JOB)
    before = registry.rows("given_values")
    load(registry, JOB)
    assert registry.rows("given_values") == before
    load(registry, JOB.replace("'Enabled'", "'enabled'"))
    assert [row["revision"] for row in registry.rows("given_values")] == [1, 2]


RULES = """
INSERT INTO quality_rules
    (rule_id, dataset_id, layer, rule_type, rule_expression, severity, active) VALUES
    ('QR-1', 'bronze.customers', 'Bronze', 'RANGE_CHECK', 'amount between 0 and 10', 'Warning',
     '1'),
    ('QR-2', 'bronze.customers', 'Bronze', 'UNIQUE', 'amount', 'Warning', '1');
"""
COLUMNS = ("rule_type", "rule_expression", "severity", "active")
SECOND = ("UNIQUE", "amount", "Warning", "1")


def rules(registry: SmallRegistry, folder: Path) -> dict[object, tuple[object, ...]]:
    rows = exported(registry, folder)["quality_rules"]
    return {row["rule_id"]: tuple(row[column] for column in COLUMNS) for row in rows}


@pytest.mark.parametrize(
    ("change", "first"),
    [
        (
            {"severity": Severity.FAIL},
            ("RANGE_CHECK", "amount between 0 and 10", "FAIL", "1"),
        ),
        (
            {"active": False},
            ("RANGE_CHECK", "amount between 0 and 10", "Warning", False),
        ),
        (
            {"expression": "range(amount, min=0, max=20)"},
            ("RANGE_CHECK", "range(amount, min=0, max=20)", "Warning", "1"),
        ),
        (
            {"rule_type": "NOT_NULL", "expression": "not_null(amount)"},
            ("NOT_NULL", "not_null(amount)", "Warning", "1"),
        ),
    ],
)
def test_only_the_changed_value_of_a_rule_is_forgotten(
    registry: SmallRegistry,
    tmp_path: Path,
    change: dict[str, object],
    first: tuple[object, ...],
) -> None:
    load(registry, OBJECT + RULES)
    assert rules(registry, tmp_path)["QR-2"] == SECOND

    def revised(item: Definition) -> dict[str, object]:
        if not isinstance(item, DatasetDefinition):
            return {}
        one, *others = sorted(item.rules, key=lambda rule: rule.rule_type != "RANGE")
        return {"rules": (one.model_copy(update=change), *others)}

    revise(registry, revised)
    assert rules(registry, tmp_path) == {"QR-1": first, "QR-2": SECOND}
