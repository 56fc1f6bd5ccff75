"""Every kind of definition, from files to a plan, to rows and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.registry.planning.describe import describe
from lakeguard.registry.store import (
    current_catalogue,
    current_profiles,
    current_target,
    job_of_dataset,
    require_dataset,
)
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import HashStrategy, LoadType, Severity
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import Definitions, FromSource
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.plan import Plan, Revise
from tests.support.cases.every_definition_kind import (
    CUSTOMERS,
    EVERY_KIND,
    JOB,
    TARGET,
)
from tests.support.projects.definition_folders import load
from tests.support.projects.registries import SmallRegistry, small_registry

CUSTOMERS_FILE = "definitions/bronze/customers.yaml"
TARGET_FILE = "definitions/targets/raw_zone.yaml"
NAME = DatasetName("bronze.customers")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    with small_registry(tmp_path) as made:
        yield made


@pytest.fixture
def definitions(tmp_path: Path) -> Definitions:
    return load(tmp_path, EVERY_KIND)


def refused(registry: SmallRegistry, definitions: Definitions) -> list[str]:
    with pytest.raises(InvalidDefinitions) as invalid:
        registry.plan(definitions)
    return [f"{error.code} {error}" for error in invalid.value.errors]


def test_every_field_is_read(definitions: Definitions) -> None:
    (dataset,) = definitions.datasets
    assert dataset.load == Load(
        type=LoadType.INCREMENTAL,
        keys=("id",),
        hash=HashStrategy.ROW_HASH,
        watermark="seen_at",
        partition_by=("country",),
    )
    assert dataset.build == FromSource(source="crm", object="customers/*.csv", external_id="OBJ-1")
    assert (dataset.profile, dataset.target, dataset.external_id) == ("lenient", "raw_zone", "42")
    assert dataset.details == {"batch_size": "500"}
    (target,) = definitions.targets
    assert target.details == {"retention_days": "30", "compressed": "true"}
    assert [(m.source, m.relationship) for m in target.sources] == [("crm", "ingestion")]
    (job,) = definitions.jobs
    assert job.config == {
        "trigger#EventBridge": "nightly",
        "status#ActiveConfig": "true",
        "schedule": "0 2 * * *",
    }
    (rule,) = definitions.catalogue
    assert (rule.expression, rule.severity) == (
        "range({column}, min={low}, max={high})",
        Severity.WARN,
    )
    assert definitions.profiles[0].allow_column_drop


def test_steps_come_in_the_order_of_what_needs_what(
    registry: SmallRegistry, definitions: Definitions
) -> None:
    lines = describe(registry.plan(definitions))
    assert [f"{line.sign} {line.kind} {line.name}  {line.summary}" for line in lines] == [
        "+ profile lenient  new columns, missing columns, wider types, changed nullability",
        "+ rule in_bounds  range({column}, min={low}, max={high}), WARN",
        "+ source crm  csv, exports",
        "+ target raw_zone  delta, zones/raw, zone raw, 1 source",
        "+ dataset bronze.customers  3 columns, 0 rules",
        "+ policy no_pii  PII on gold: forbid tag:pii, BLOCK",
        "+ job load_customers  build of bronze.customers",
    ]


def test_what_is_applied_reads_back(registry: SmallRegistry, definitions: Definitions) -> None:
    plan = registry.plan(definitions)
    applied = registry.apply(Plan.from_json(plan.to_json()))
    assert (applied.steps, applied.registered) == (7, (NAME,))
    assert registry.state().head == applied.registry_head
    assert registry.plan(definitions).steps == ()
    with OrganisationState.of(registry.database, "default").read() as tx:
        assert current_target(tx, "raw_zone") == definitions.targets[0]
        assert job_of_dataset(tx, NAME) == definitions.jobs[0]
        assert current_profiles(tx) == definitions.profiles
        assert current_catalogue(tx) == definitions.catalogue
        found = require_dataset(tx, NAME)
        assert found.definition == definitions.datasets[0]
        assert found.location == "zones/raw/bronze/customers"
    assert [row["relationship_type"] for row in registry.rows("md_src_tgt_ctrl")] == ["ingestion"]
    assert {row["config_name"] for row in registry.rows("md_jobconfig")} == set(
        definitions.jobs[0].config
    )


CHANGED = [
    (TARGET_FILE, TARGET, "zone: raw", "zone: landing", "zone", "raw", "landing"),
    (
        TARGET_FILE, TARGET, "description: All of it", "description: Some", "source crm",
        "ingestion, All of it", "ingestion, Some",
    ),
    (TARGET_FILE, TARGET, "retention_days: 30", "retention_days: 7", "detail retention_days",
     "30", "7"),
    ("definitions/jobs/load_customers.yaml", JOB, "nightly", "hourly",
     "config trigger#EventBridge", "nightly", "hourly"),
    (CUSTOMERS_FILE, CUSTOMERS, "INCREMENTAL", "SNAPSHOT", "load", "INCREMENTAL", "SNAPSHOT"),
    (CUSTOMERS_FILE, CUSTOMERS, "[id], hash", "[id, country], hash", "load keys", "id",
     "id, country"),
    (CUSTOMERS_FILE, CUSTOMERS, "Lenient", "strict", "schema profile", "lenient", "strict"),
    (CUSTOMERS_FILE, CUSTOMERS, "customers/*", "clients/*", "object", "customers/*.csv",
     "clients/*.csv"),
    ("definitions/profiles/lenient.yaml", EVERY_KIND["definitions/profiles/lenient.yaml"],
     "allow_column_drop: true", "allow_column_drop: false", "allow_column_drop", "true", "false"),
    ("definitions/rules/in_bounds.yaml", EVERY_KIND["definitions/rules/in_bounds.yaml"],
     "WARN", "FAIL", "severity", "WARN", "FAIL"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "good", "old", "new", "field", "before", "after"),
    CHANGED,
    ids=[f"{case[4]} of {case[0].split('/')[1]}" for case in CHANGED],
)
def test_each_change_is_a_revision_in_words(
    registry: SmallRegistry,
    definitions: Definitions,
    tmp_path: Path,
    file: str,
    good: str,
    old: str,
    new: str,
    field: str,
    before: str,
    after: str,
) -> None:
    registry.register(definitions)
    assert old in good
    plan = registry.plan(load(tmp_path, {**EVERY_KIND, file: good.replace(old, new)}))
    (step,) = plan.steps
    assert isinstance(step, Revise)
    assert [(c.field, c.before, c.after) for c in step.changes] == [(field, before, after)]
    registry.apply(plan)
    assert registry.plan(load(tmp_path, {})).steps == ()


def test_a_tables_place_is_fixed_when_it_is_registered(
    registry: SmallRegistry, definitions: Definitions
) -> None:
    registry.register(definitions)
    moved = definitions.targets[0].model_copy(update={"location": "/elsewhere"})
    plain = definitions.datasets[0].model_copy(update={"owner": "others"})
    registry.register(Definitions(targets=(moved,), datasets=(plain,)))
    with OrganisationState.of(registry.database, "default").read() as tx:
        found = require_dataset(tx, NAME)
    assert (found.revision, found.location) == (2, "zones/raw/bronze/customers")


def test_what_does_not_exist_is_refused(registry: SmallRegistry, definitions: Definitions) -> None:
    lonely = Definitions(
        datasets=definitions.datasets, jobs=definitions.jobs, targets=definitions.targets
    )
    assert sorted(refused(registry, lonely)) == [
        "LG-2007 profile 'lenient' does not exist",
        "LG-2007 source 'crm' does not exist",
        "LG-2007 source 'crm' does not exist",
    ]
    (dataset,) = definitions.datasets
    near = dataset.model_copy(update={"target": "raw_zon", "profile": "backwards"})
    assert sorted(refused(registry, definitions.model_copy(update={"datasets": (near,)}))) == [
        "LG-2007 profile 'backwards' does not exist; did you mean backward?",
        "LG-2007 target 'raw_zon' does not exist; did you mean raw_zone?",
    ]


def test_every_arrow_is_checked(registry: SmallRegistry, definitions: Definitions) -> None:
    text = (
        "LG-2029 bronze.customers reads crm and writes to raw_zone, which has no mapping from crm"
    )
    bare = definitions.targets[0].model_copy(update={"sources": ()})
    assert refused(registry, definitions.model_copy(update={"targets": (bare,)})) == [text]
    registry.register(definitions)
    assert refused(registry, Definitions(targets=(bare,))) == [text]


def test_a_dataset_has_one_job_at_most(registry: SmallRegistry, definitions: Definitions) -> None:
    second = definitions.jobs[0].model_copy(update={"job": "another", "external_id": ""})
    both = definitions.model_copy(update={"jobs": (*definitions.jobs, second)})
    text = "builds bronze.customers, which job"
    assert [text in line for line in refused(registry, both)] == [True]
    registry.register(definitions)
    (reported,) = refused(registry, Definitions(jobs=(second,)))
    assert (
        reported
        == "LG-2030 another builds bronze.customers, which job load_customers already builds"
    )


def test_no_table_lies_in_another(registry: SmallRegistry, definitions: Definitions) -> None:
    registry.register(definitions)
    inner = definitions.targets[0].model_copy(
        update={"target": "inner", "location": "zones/raw/bronze/customers", "external_id": ""}
    )
    other = definitions.datasets[0].model_copy(
        update={"dataset": DatasetName("bronze.other"), "target": "inner", "external_id": ""}
    )
    (reported,) = refused(registry, Definitions(targets=(inner,), datasets=(other,)))
    assert reported.startswith("LG-2033")
    assert "bronze.customers" in reported
