"""Rows of every table become definitions, or errors at their position."""

from __future__ import annotations

import pytest

from lakeguard.registry.rows.tables import TABLES, is_fact
from lakeguard.registry.rows.texts import clean_word
from lakeguard.registry.rows.vendor_types import column_type
from lakeguard_sdk.core.dataset_name import clean_column
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.definitions import FromSource
from tests.unit.registry.rows.loads import (
    OBJECT,
    SOURCE,
    good,
    loaded,
    mistakes,
    only_dataset,
    rules_of,
)

TARGET = (
    SOURCE
    + """INSERT INTO md_tgt_ctrl (target_id, target_name, location, target_type, zone, status)
    VALUES (2, 'Raw Zone', 'raw', 'S3', 'RAW', 'ENABLED');
"""
)
COLUMN = (
    "INSERT INTO source_object_columns"
    " (source_object_id, column_name, data_type, is_nullable, active) VALUES (7, {});"
)
JOB = "INSERT INTO md_jobs (job_id, job_name, status) VALUES (9, 'Load it', '{}');"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("OpenCellID Raw", "opencellid_raw"),
        ("a__b", "a__b"),
        ("dbo.Customers", "dbo_customers"),
        (" -x- ", "x"),
        ("9lives", None),
        ("Müller", None),
        ("", None),
    ],
)
def test_names_follow_one_rule(written: str, name: str | None) -> None:
    assert clean_word(written) == name


def test_columns_follow_the_rule_of_the_framework() -> None:
    assert clean_column("Cell ID#") == "cell_id"


@pytest.mark.parametrize(
    ("vendor", "ours"),
    [
        ("NVARCHAR(MAX)", "string"), ("varchar ( 10 )", "string"), ("int", "integer"),
        ("bigint", "long"), ("bit", "boolean"), ("DECIMAL(10, 2)", "decimal(10,2)"),
        ("numeric(5)", "decimal(5,0)"), ("number(38,10)", "decimal(38,10)"),
        ("money", "decimal(19,4)"),
        ("float(53)", "double"), ("float(24)", "float"), ("double precision", "double"),
        ("datetime2(7)", "timestamp_ntz"), ("timestamp(3) with time zone", "timestamp"),
        ("datetimeoffset", "timestamp"), ("varbinary(8)", "binary"), ("date", "date"),
        ("decimal", None), ("decimal(40,2)", None), ("geography", None), ("int(11,2)", None),
    ],
)  # fmt: skip
def test_types_of_vendors(vendor: str, ours: str | None) -> None:
    assert column_type(vendor) == ours


def test_a_source_of_the_control_tables() -> None:
    rows = SOURCE + (
        "INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES"
        " ('1', 'delimiter', ';'), (1, 'token', 'env:CRM_TOKEN'), (1, 'detail.path', 'x');"
    )
    (source,) = good(rows).sources
    assert (source.source, source.external_id) == ("crm_export", "1")
    assert (source.format, source.path) == (SourceFormat.CSV, "in/*.csv")
    assert source.options == {"delimiter": ";"}
    assert source.details == {"token": "env:CRM_TOKEN", "path": "x"}
    assert source.active


def test_an_object_registers_its_dataset() -> None:
    dataset = only_dataset(good(OBJECT))
    assert dataset.dataset == "bronze.customers"
    assert dataset.build == FromSource(source="crm_export", object="Customers", external_id="7")
    assert [(c.name, c.type) for c in dataset.columns] == [
        ("customer_id", "string"), ("amount", "double"),
    ]  # fmt: skip
    assert (dataset.load.type, dataset.profile) == (LoadType.FULL, "default")


def test_keys_may_be_named_as_the_source_names_them() -> None:
    rows = OBJECT + (
        "INSERT INTO dataset_registry (dataset_id, dataset_name, layer, business_keys, load_type)"
        " VALUES (3, 'customers', 'bronze', '[\"Customer ID#\"]', 'INCREMENTAL');"
    )
    dataset = only_dataset(good(rows))
    assert dataset.load.keys == ("customer_id",)
    assert dataset.external_id == "3"


def test_one_row_changes_one_piece_of_what_is_registered() -> None:
    registered = good(TARGET)
    row = "INSERT INTO md_tgt_det (target_id, detail_name, detail_value) VALUES (2, '{}', '{}');"
    (target,) = good(row.format("partition_by", "a, b"), registered).targets
    assert target == registered.targets[0].model_copy(update={"partition_by": ("a", "b")})
    mapping = "INSERT INTO md_src_tgt_ctrl (source_id, target_id) VALUES (1, 2);"
    (target,) = good(mapping, registered).targets
    assert [m.source for m in target.sources] == ["crm_export"]


def test_both_vocabularies_must_agree() -> None:
    same = "INSERT INTO source_systems (source_system_id, source_name, source_type, active)"
    assert good(SOURCE + same + " VALUES (1, 'CRM export', 'csv', 1);").sources[0].active
    reported = mistakes(SOURCE + same + " VALUES (1, 'CRM export', 'PARQUET', 0);")
    assert [given[:7] for given in reported] == ["LG-2004", "LG-2004"]
    assert "'parquet' here, but 'csv' at" in reported[1] or "'csv' here" in reported[0]


@pytest.mark.parametrize(
    ("status", "config", "active"),
    [
        ("ENABLED", "", True),
        ("DISABLED", "", False),
        ("ENABLED", "true", True),
        ("ENABLED", "INACTIVE", False),
        ("ENABLED", "disabled", False),
        ("DISABLED", "true", False),
    ],
)
def test_a_job_is_switched_off_by_either(status: str, config: str, active: bool) -> None:
    rows = JOB.format(status)
    if config:
        rows += (
            "INSERT INTO md_jobconfig (job_id, config_name, config_value)"
            f" VALUES (9, 'status#ActiveConfig', '{config}');"
        )
    (job,) = good(rows).jobs
    assert (job.job, job.title, job.active) == ("load_it", "Load it", active)


def test_a_column_that_is_not_active_is_left_out_with_its_rules() -> None:
    first = good(OBJECT + COLUMN.format("'Net', 'int', 0, 1"))
    assert "not_null.net" in rules_of(first)
    gone = only_dataset(good(COLUMN.format("'Net', NULL, NULL, FALSE"), first))
    assert [column.name for column in gone.columns] == ["customer_id", "amount"]
    assert gone.rules == ()


def test_nullable_again_takes_the_rule_away() -> None:
    first = good(OBJECT + COLUMN.format("'Net', 'int', 0, 1"))
    again = good(COLUMN.format("'Net', NULL, NULL, NULL"), first)
    assert "not_null.net" in rules_of(again)
    assert "not_null.net" not in rules_of(good(COLUMN.format("'Net', NULL, 1, NULL"), first))


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        ("INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES (5, 'path', 'x');",
         "LG-2007", "source '5' does not exist"),
        ("INSERT INTO md_tgt_det (target_id, detail_name, detail_value) VALUES (5, 'a', 'x');",
         "LG-2007", "target '5'"),
        ("INSERT INTO md_jobs_det (job_id, detail_name, detail_value) VALUES (5, 'a', 'x');",
         "LG-2007", "job '5'"),
        ("INSERT INTO md_src_tgt_ctrl (source_id, target_id) VALUES (1, 5);",
         "LG-2007", "target '5'"),
        ("INSERT INTO source_objects (source_object_id, source_system_id) VALUES (8, 5);",
         "LG-2007", "source '5'"),
        ("INSERT INTO source_object_columns (source_object_id, column_name) VALUES (8, 'x');",
         "LG-2007", "source object '8'"),
        ("INSERT INTO source_objects (source_object_id, source_system_id, schema_compat_profile)"
         " VALUES (8, 1, 'LANDNG');", "LG-2007", "profile 'landng'"),
        ("INSERT INTO md_datasets (dataset_id, [schema], table_name, target_id)"
         " VALUES (8, 'bronze', 'x', 5);", "LG-2007", "target '5'"),
        ("INSERT INTO md_jobs (job_id, job_name, dataset_id) VALUES (8, 'x', 5);",
         "LG-2007", "dataset '5'"),
        ("INSERT INTO quality_rules (dataset_id, rule_type, rule_expression)"
         " VALUES (5, 'UNIQUE', 'x');", "LG-2007", "dataset '5'"),
        ("INSERT INTO dataset_registry (dataset_id, dataset_name, layer, parents)"
         " VALUES (8, 'x', 'silver', 'bronze.y');", "LG-2007", "dataset 'bronze.y'"),
        ("INSERT INTO md_srcs_ctrl (source_id) VALUES (1);", "LG-2007", "did you mean md_src_ctrl"),
        ("INSERT INTO md_src_ctrl (source_id, source_nam) VALUES (1, 'x');",
         "LG-2002", "did you mean source_name"),
        ("INSERT INTO run_history (run_id) VALUES ('x');", "LG-2034", "run_history records"),
        ("INSERT INTO md_jobs_revisions (job_id) VALUES ('x');", "LG-2034", "md_jobs_revisions"),
        ("INSERT INTO md_src_ctrl (source_id, source_name) VALUES (3, 'CRM-Export');",
         "LG-2006", "source crm_export is defined twice"),
        ("INSERT INTO md_src_ctrl (source_id, source_name) VALUES (1, 'Other');",
         "LG-2006", "defined twice"),
        ("INSERT INTO md_src_ctrl (source_id, source_name) VALUES (3, '3');", "LG-2020", "'3'"),
        ("INSERT INTO md_src_ctrl (source_id, source_name, enabled) VALUES (3, 'x', 'maybe');",
         "LG-2004", "'maybe' is not a boolean"),
        ("INSERT INTO md_src_ctrl (source_id, source_name, description)"
         " VALUES (3, 'x', NOW());", "LG-2004", "the current time is allowed in created_at"),
        ("INSERT INTO md_datasets (dataset_id, [schema], table_name) VALUES (8, 'bronze', 'x');",
         "LG-2003", "domain of bronze.x"),
        ("INSERT INTO md_src_det (source_id, detail_name, detail_value)"
         " VALUES (1, 'password', 'hunter2');", "LG-2021", "looks like a secret"),
        ("INSERT INTO md_src_det (source_id, detail_name, detail_value)"
         " VALUES (1, 'encoding', 'EBCDIC');", "LG-2004", "write one of UTF-8"),
        ("INSERT INTO md_src_det (source_id, detail_name, detail_value)"
         " VALUES (1, 'x', NULL);", "LG-2004", "x has no value"),
    ],
)  # fmt: skip
def test_mistakes(rows: str, code: str, words: str) -> None:
    _, reported = loaded(SOURCE + "\n" + rows)
    at_row = [given for given in reported if given.partition(" ")[2].startswith(code)]
    assert at_row, reported
    assert any(words in given for given in at_row), reported
    line = SOURCE.count("\n") + 2
    assert all(given.startswith(f"{line}:") for given in at_row)
    assert not [given for given in reported if "hunter2" in given]


def test_a_dangling_arrow_to_what_is_registered_is_none() -> None:
    registered = good(OBJECT)
    rows = "INSERT INTO quality_rules (dataset_id, rule_type, rule_expression) VALUES {};"
    assert "unique.customer_id" in rules_of(
        good(rows.format("('bronze.customers', 'UNIQUE', 'customer_id')"), registered)
    )


def test_a_layer_that_is_not_the_datasets_is_refused() -> None:
    rows = (
        "INSERT INTO quality_rules (dataset_name, layer, rule_type, rule_expression)"
        " VALUES ('bronze.customers', 'gold', 'UNIQUE', 'customer_id');"
    )
    assert mistakes(rows, good(OBJECT))[0].startswith("LG-2004")


def test_ids_are_compared_as_text() -> None:
    rows = OBJECT.replace("VALUES (1, 'CRM", "VALUES ('001', 'CRM")
    assert any("LG-2007" in given for given in mistakes(rows))


def test_times_of_insertion_are_not_read() -> None:
    rows = "INSERT INTO md_src_ctrl (source_id, source_name, created_at) VALUES (1, 'CRM', {});"
    plain = good(SOURCE)
    for now in ("CURRENT_TIMESTAMP", "'2026-01-01'", "GETDATE()"):
        (source,) = good(rows.format(now).replace("'CRM'", "'CRM Export'"), plain).sources
        assert source == plain.sources[0]


def test_facts_are_never_tables_of_definitions() -> None:
    assert not [table for table in TABLES if is_fact(table)]
    for table in ("data_versions", "promotion_status", "md_job_execution", "schema_history",
                  "schema_change_log", "data_quality_results", "data_profiling_results",
                  "run_audit", "tasks", "decisions", "dataset_registry_revisions"):  # fmt: skip
        assert is_fact(table), table


SILVER = (
    "INSERT INTO dataset_registry (dataset_id, dataset_name, layer, owner, domain, parents,"
    " columns, sql_file, sql_text) VALUES ({}, '{}', 'silver', 'a', 'b', 'bronze.customers',"
    ' \'[{{"name": "amount", "type": "double"}}]\', \'sql/x.sql\', \'{}\');'
)


def test_one_file_of_sql_holds_one_text() -> None:
    text = "SELECT amount FROM bronze.customers"
    same = OBJECT + SILVER.format(1, "a", text) + SILVER.format(2, "b", text)
    found = good(same)
    other = SILVER.format(2, "b", f"{text} WHERE amount > 0")
    assert "sql/x.sql is also the file of silver.a" in mistakes(other, found)[0]


def test_sql_in_a_row_is_held_to_the_same_rules() -> None:
    reported = loaded(OBJECT + SILVER.format(1, "a", "DROP TABLE x"))[1]
    assert [given.split()[1] for given in reported] == ["LG-2019"]
    assert reported[0].startswith(f"{OBJECT.count(chr(10)) + 1}:")


def test_ids_of_the_registry_are_no_ids_of_others() -> None:
    rows = SOURCE.replace("(1, ", "('src_01M7G07JQD4G536H3FF12JM0HV', ")
    (source,) = good(rows).sources
    assert source.external_id == ""


EXTERNAL = (
    "INSERT INTO source_systems (source_system_id, source_name, source_type, path, external_id)"
    " VALUES ({}, '{}', 'csv', 'in/*.csv', '{}');"
)
DETAIL = "INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES ('{}', 'x', 'y');"


def test_rows_may_refer_to_an_external_id_of_the_same_load() -> None:
    (source,) = good(EXTERNAL.format(1, "crm", "X-17") + DETAIL.format("X-17")).sources
    assert (source.external_id, source.details) == ("X-17", {"x": "y"})


def test_an_external_id_counts_less_than_ids_and_names_of_rows() -> None:
    rows = EXTERNAL.format(1, "crm", "2") + EXTERNAL.format(2, "shop", "crm")
    for row_id, name in (("2", "shop"), ("crm", "crm"), ("1", "crm")):
        sources = good(rows + DETAIL.format(row_id)).sources
        assert {source.source: source.details for source in sources} == {
            "crm": {},
            "shop": {},
            name: {"x": "y"},
        }


def test_a_key_may_have_its_name_in_the_source_in_one_of_two_tables() -> None:
    row = OBJECT.replace("owner, domain)", "owner, domain, load_type, business_keys)")
    row = row.replace("'shop');", "'shop', 'INCREMENTAL', 'Customer ID#');")
    again = (
        "INSERT INTO dataset_registry (dataset_id, dataset_name, business_keys)"
        " VALUES (3, 'bronze.customers', '{}');"
    )
    assert only_dataset(good(row + again.format("customer_id"))).load.keys == ("customer_id",)
    assert mistakes(row + again.format("amount")) != []
