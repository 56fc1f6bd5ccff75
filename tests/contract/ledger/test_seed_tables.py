"""The seeds' tables after rows were loaded, applied and run: they say what is so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from lakeguard.gate.schema.profiles import BUILT_IN, answers_of
from lakeguard.registry.editing.export import definition_files
from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.macros import built_in_rules
from lakeguard.registry.rows.write_rows import rows_of
from lakeguard_sdk import DatasetName
from lakeguard_sdk.core.enums import BUILT_IN_PROFILES
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import Definitions, ProfileDefinition
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.projects.loaded_rows import (
    COLUMN,
    OBJECT,
    ROWS,
    SILVER,
    SYSTEM,
    judged,
    load,
    rows_project,
    shown,
)
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")


@pytest.mark.parametrize(("given", "nullable"), [("0", False), ("1", True)])
def test_nullable_is_what_the_row_said(tmp_path: Path, given: str, nullable: bool) -> None:
    rows_project(tmp_path, SYSTEM + OBJECT + COLUMN.replace("'bigint', 0", f"'bigint', {given}"))
    assert shown(tmp_path, "source_object_columns", "column_name", "is_nullable") == [
        ("n", nullable)
    ]


SECRETS = """
INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES
    (1, 'secret.user', 'env:U'), (1, 'secret.password', 'env:P');
"""


@pytest.mark.parametrize(
    ("system", "shown_as"),
    [
        (SYSTEM, "env:FEED_TOKEN"),
        (SYSTEM.replace("secret_reference", "secret_name"), "env:FEED_TOKEN"),
        (SYSTEM.replace("'env:FEED_TOKEN'", "NULL") + SECRETS, "env:P, env:U"),
        (SYSTEM.replace("'env:FEED_TOKEN'", "NULL"), None),
    ],
)
def test_a_source_shows_its_credential_reference(
    tmp_path: Path, system: str, shown_as: str | None
) -> None:
    rows_project(tmp_path, system + OBJECT + COLUMN)
    assert shown(tmp_path, "source_systems", "secret_reference") == [(shown_as,)]


def test_a_result_has_its_severity_and_column(tmp_path: Path) -> None:
    client = rows_project(tmp_path)
    assert judged(client).allowed
    columns = ("rule_id", "severity", "column_name", "result")
    assert sorted(shown(tmp_path, "data_quality_results", *columns)) == [
        ("bronze.numbers.in_set.n", "WARN", "n", "PASS"),
        ("bronze.numbers.not_null.n", "FAIL", "n", "PASS"),
    ]


def test_a_source_object_is_named_only_where_there_is_one(tmp_path: Path) -> None:
    """Results of a dataset that is built from others belong to no source object."""
    client = rows_project(tmp_path, ROWS + SILVER)
    judged(client)
    judged(client, name=DatasetName("silver.numbers"))
    (objects,) = shown(tmp_path, "source_objects", "source_object_id")
    tables = ("data_quality_results", "schema_history", "run_audit")
    for table in tables:
        found = set(shown(tmp_path, table, "source_object_id", "dataset_id"))
        assert {named for named, _ in found} == {*objects, None}, table
        assert len(found) == 2, table


def test_every_dataset_lies_in_a_target(tmp_path: Path) -> None:
    rows_project(tmp_path)
    targets = {key for (key,) in shown(tmp_path, "md_tgt_ctrl", "target_id")}
    assert {key for (key,) in shown(tmp_path, "md_datasets", "target_id")} <= targets


JOB = "INSERT INTO md_jobs (job_id, job_name, dataset_id) VALUES (4, 'Nightly', 'bronze.numbers');"


@pytest.mark.parametrize(("rows", "job"), [("", "bronze.numbers"), (JOB, "nightly")])
def test_every_execution_is_of_a_job(tmp_path: Path, rows: str, job: str) -> None:
    client = rows_project(tmp_path, ROWS + rows)
    judged(client)
    jobs = dict(shown(tmp_path, "md_jobs", "job_id", "job_name"))
    ((key,),) = shown(tmp_path, "md_job_execution", "job_id")
    assert jobs[key] == job


@pytest.mark.parametrize(("rows", "job"), [("", "bronze.numbers"), (JOB, "nightly")])
def test_a_version_names_the_job_that_made_it(tmp_path: Path, rows: str, job: str) -> None:
    client = rows_project(tmp_path, ROWS + rows)
    judged(client)
    assert shown(tmp_path, "data_versions", "promoted_by") == [(job,)]
    assert shown(tmp_path, "dataset_pointers", "actor") == [("ada",)]


def test_rule_ids_are_unique_and_given_ids_are_kept(tmp_path: Path) -> None:
    policy = (
        "INSERT INTO policy_rules (policy_id, applies_to_layer, policy_type, policy_expression,"
        " enforcement) VALUES ('POL-001', 'gold', 'PII', 'forbid tag:pii', 'BLOCK');"
    )
    gold = SILVER.replace("(8,", "(9,").replace("'silver'", "'gold'").replace("8, 'NOT", "9, 'NOT")
    gold = gold.replace("bronze.numbers", "silver.numbers")
    client = rows_project(tmp_path, ROWS + SILVER + policy)
    load(client, tmp_path, gold)
    rules = dict(shown(tmp_path, "quality_rules", "rule_id", "external_id"))
    assert rules == {
        "bronze.numbers.in_set.n": None,
        "bronze.numbers.not_null.n": None,
        "silver.numbers.qr-1": "QR-1",
        "gold.numbers.qr-1": "QR-1",
    }
    assert shown(tmp_path, "policy_rules", "policy_id", "external_id") == [("pol_001", "POL-001")]
    exported = rows_of(client.registry.definitions(), client.registry.dataset_ids())
    assert {row["rule_id"] for row in exported["quality_rules"]} >= {"QR-1"}
    assert [row["policy_id"] for row in exported["policy_rules"]] == ["POL-001"]


GIVEN = "0190a5b2-7c4e-7d3a-9f00-5b6c7d8e9f01"


def test_a_dataset_is_known_by_a_uuid(tmp_path: Path) -> None:
    rows_project(tmp_path)
    ((key, external),) = [
        (row[0], row[1]) for row in shown(tmp_path, "dataset_registry", "dataset_id", "definition")
    ]
    assert UUID(key).version == 7
    assert json.loads(external)["external_id"] == ""


@pytest.mark.parametrize(("given", "kept"), [(GIVEN, True), ("8", False), ("DS-8", False)])
def test_a_given_uuid_is_kept_and_any_other_id_is_external(
    tmp_path: Path, given: str, kept: bool
) -> None:
    client = rows_project(tmp_path, ROWS + SILVER.replace("8", f"'{given}'"))
    ids = client.registry.dataset_ids()
    silver = client.reader.definition(DatasetName("silver.numbers"))
    assert (ids["silver.numbers"] == given) is kept
    assert silver.external_id == ("" if kept else given)
    row = f"INSERT INTO quality_rules (dataset_id, rule_type, rule_expression) VALUES ('{given}'"
    load(client, tmp_path, f"{row}, 'UNIQUE', 'n');")
    assert len(client.reader.rules(DatasetName("silver.numbers"))) == 2


def test_the_id_of_a_dataset_never_changes(tmp_path: Path) -> None:
    client = rows_project(tmp_path)
    known = client.registry.dataset_ids()["bronze.numbers"]
    row = "INSERT INTO dataset_registry (dataset_id, dataset_name, layer) VALUES ("
    with pytest.raises(AssertionError, match=f"is {known} and never changes"):
        load(client, tmp_path, f"{row}'{GIVEN}', 'numbers', 'bronze');")
    (numbers,) = client.registry.definitions().datasets
    other = numbers.model_copy(update={"dataset_id": GIVEN, "owner": "others"})
    with pytest.raises(InvalidDefinitions) as refused:
        client.registry.plan(Definitions(datasets=(other,)))
    assert f"is {known} and never changes" in str(refused.value.errors[0])


def quality(folder: Path) -> tuple[Any, ...]:
    """The rule of the column's set as it acts, and what was given for it as it reads back."""
    ((severity, active),) = [
        row[1:]
        for row in shown(folder, "quality_rules", "check_id", "severity", "active")
        if row[0] == "in_set.n"
    ]
    (of_object,) = shown(folder, "source_objects", "dq_enabled", "dq_fail_behavior")
    (of_column,) = shown(folder, "source_object_columns", "dq_severity", "dq_rule_set")
    return severity, active, *of_object, *of_column


RULE_SET = '[{"rule": "VALID_VALUES", "values": [1, 2]}]'
OTHER_SET = '[{"rule": "VALID_VALUES", "values": [1, 2, 3]}]'
OF_OBJECT = "INSERT INTO source_objects (source_object_id, source_system_id, {}) VALUES (7, 1, {});"
OF_COLUMN = (
    "INSERT INTO source_object_columns (source_object_id, column_name, {}) VALUES (7, 'N', {});"
)


def test_quality_settings_of_a_row_are_stored_and_act(tmp_path: Path) -> None:
    client = rows_project(tmp_path)
    assert quality(tmp_path) == ("WARN", True, True, "WARN", "WARN", RULE_SET)
    assert judged(client, failing=1).allowed is False, "the column is not nullable"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (OF_OBJECT.format("dq_fail_behavior", "'FAIL'"),
         ("FAIL", True, True, "FAIL", "WARN", RULE_SET)),
        (OF_OBJECT.format("dq_enabled", "0"), ("WARN", False, False, "WARN", "WARN", RULE_SET)),
        (OF_COLUMN.format("dq_severity", "'FAIL'"), ("FAIL", True, True, "WARN", "FAIL", RULE_SET)),
        (OF_COLUMN.format("dq_rule_set", f"'{OTHER_SET}'"),
         ("WARN", True, True, "WARN", "WARN", OTHER_SET)),
    ],
)  # fmt: skip
def test_one_quality_setting_changes_alone_and_back(
    tmp_path: Path, row: str, expected: tuple[Any, ...]
) -> None:
    client = rows_project(tmp_path)
    assert load(client, tmp_path, row).steps == 1
    assert quality(tmp_path) == expected
    assert load(client, tmp_path, ROWS).steps == 1
    assert quality(tmp_path) == ("WARN", True, True, "WARN", "WARN", RULE_SET)
    assert load(client, tmp_path, ROWS).steps == 0


def test_names_and_types_are_kept_as_given(tmp_path: Path) -> None:
    client = rows_project(tmp_path)
    columns = ("column_name", "source_name", "data_type", "source_type")
    assert shown(tmp_path, "source_object_columns", *columns) == [("n", "N", "long", "bigint")]
    exported = rows_of(client.registry.definitions())
    (column,) = exported["source_object_columns"]
    assert (column["column_name"], column["data_type"]) == ("N", "bigint")
    assert (column["dq_rule_set"], column["dq_severity"]) == (RULE_SET, "WARN")
    (read,) = exported["source_objects"]
    assert (read["dq_enabled"], read["dq_fail_behavior"]) == (True, "WARN")
    changed = OF_COLUMN.format("data_type", "'int8'")
    assert load(client, tmp_path, changed).steps == 1
    assert shown(tmp_path, "source_object_columns", *columns) == [("n", "N", "long", "int8")]


def test_files_change_nothing_of_what_only_rows_say(tmp_path: Path) -> None:
    client = rows_project(tmp_path)
    held = client.registry.definitions()
    for path, text in definition_files(held).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert client.registry.plan(load_folder(tmp_path)).steps == ()


def test_built_in_profiles_and_rules_are_rows(tmp_path: Path) -> None:
    client = rows_project(tmp_path)
    profiles = dict(shown(tmp_path, "schema_compatibility_rules", "profile_name", "reactions"))
    assert set(profiles) == set(BUILT_IN_PROFILES)
    for name, reactions in profiles.items():
        told = {SchemaChange(key): Reaction(word) for key, word in json.loads(reactions).items()}
        profile = ProfileDefinition(profile=name, reactions=told)
        assert answers_of(profile) == BUILT_IN[name], name
    columns = ("rule_name", "rule_expression", "built_in")
    assert sorted(shown(tmp_path, "dq_rule_catalog", *columns)) == sorted(
        (rule.rule, rule.expression, True) for rule in built_in_rules().values()
    )
    held = client.registry.definitions()
    assert (held.profiles, held.catalogue) == ((), ())
    load(client, tmp_path, "INSERT INTO md_src_ctrl (source_id, description) VALUES (1, 'x');")
    revisions = shown(tmp_path, "dq_rule_catalog_revisions", "revision")
    assert len(revisions) == len(built_in_rules()), "the second apply brings nothing new"


@pytest.mark.parametrize("kind", ["Oracle", "SQLSERVER", "SAP HANA", "DB2/AS400", "Salesforce"])
def test_any_type_of_source_loads_and_its_missing_driver_is_named(
    tmp_path: Path, kind: str
) -> None:
    system = (
        "INSERT INTO source_systems (source_system_id, source_name, source_type, active)"
        f" VALUES (1, 'Number Feed', '{kind}', 1);"
    )
    client = rows_project(tmp_path, system + OBJECT + COLUMN)
    assert shown(tmp_path, "source_systems", "source_type") == [(kind,)]
    task = client.operations.submit(NUMBERS, "ada")
    result = client.runs.open_run(task, this_process("test"))
    assert isinstance(result, RunResult)
    assert result.decision is not None
    assert result.decision.ruling.reasons == (
        f"source: source number_feed is of type {kind}, and no driver for {kind} is installed",
    )
    exported = rows_of(client.registry.definitions())
    assert [row["source_type"] for row in exported["source_systems"]] == [kind]
    format_ = "INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES"
    load(client, tmp_path, f"{format_} (1, 'format', 'csv'), (1, 'path', 'numbers/*.csv');")
    assert judged(client).allowed
