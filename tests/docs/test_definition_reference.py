"""definitions.md and settings.md name every key and word that exists, and no other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from lakeguard.registry.files import (
    builds,
    columns,
    datasets,
    jobs,
    loads,
    policies,
    rule_catalog,
    rules,
    source_options,
    sources_and_targets,
)
from lakeguard.registry.files import (
    policies as profiles,
)
from lakeguard.registry.kinds import FOLDERS
from lakeguard.settings import ENV_KEYS, ENV_VARIABLE, TOP_KEYS, load_settings
from lakeguard_sdk.core.enums import (
    BUILT_IN_PROFILES,
    CSV_ENCODINGS,
    Deletes,
    Enforcement,
    HashStrategy,
    LateRows,
    Layer,
    LoadType,
    Malformed,
    NullWatermark,
    PolicyType,
    Severity,
    SourceFormat,
    TargetFormat,
)
from lakeguard_sdk.model.load import Load, load_columns
from lakeguard_sdk.types.schema import TYPE_WORDS
from tests.support.projects.definition_folders import load

DOCS = Path(__file__).parents[2] / "docs" / "reference"
DEFINITIONS = (DOCS / "definitions.md").read_text("utf-8")
SETTINGS = (DOCS / "settings.md").read_text("utf-8")
KEYS = {
    "Datasets": datasets.KEYS,
    "`build`": builds.BUILD_KEYS,
    "`source`": builds.SOURCE_KEYS,
    "`load`": (*loads.KEYS, *LoadType),
    "`rules`": rules.KEYS,
    "Sources": (
        *sources_and_targets.SOURCE_KEYS,
        *{key for known in source_options.OPTIONS.values() for key in known},
    ),
    "Targets": sources_and_targets.TARGET_KEYS,
    "`sources`": sources_and_targets.MAPPING_KEYS,
    "Jobs": jobs.KEYS,
    "Schema profiles": profiles.PROFILE_KEYS,
    "Catalogue rules": rule_catalog.KEYS,
    "Policies": policies.POLICY_KEYS,
}
OTHERS = [builds.FRAME, *loads.ALIASES, *datasets.SCHEMA_KEYS, *BUILT_IN_PROFILES]
WORDS = [
    Layer, LoadType, HashStrategy, SourceFormat, TargetFormat, PolicyType, Enforcement, Severity,
    Deletes, LateRows, NullWatermark, Malformed,
]  # fmt: skip


def section(text: str, heading: str) -> str:
    """From a heading up to the next, of whatever depth."""
    found = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def table_keys(text: str) -> list[str]:
    """The first cell of every row that begins with code."""
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def examples(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("heading", KEYS)
def test_the_table_of_a_section_has_every_key_and_no_other(heading: str) -> None:
    assert sorted(table_keys(section(DEFINITIONS, heading))) == sorted(KEYS[heading])


def test_columns_have_every_key_and_every_type() -> None:
    text = re.sub(r"``.+?``", "", section(DEFINITIONS, "`columns`"))
    named = set(re.findall(r"`([^`]+)`", text))
    assert set(TYPE_WORDS) | set(columns.KEYS) <= named
    assert set(table_keys(text)) <= set(TYPE_WORDS) | set(columns.KEYS)


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.__name__)
def test_every_word_of_a_closed_set_is_named(words: type[Layer]) -> None:
    assert [word for word in words if f"`{word.value}`" not in DEFINITIONS] == []


def test_other_words_are_named() -> None:
    assert [word for word in OTHERS if f"`{word}`" not in DEFINITIONS] == []


def test_every_column_that_a_load_writes_is_named() -> None:
    loads = (
        {"type": "SCD2", "hash": "ROW_HASH"},
        {"type": "CDC", "hash": "KEY_HASH", "deletes": "soft"},
    )
    written = {
        column.name for given in loads for column in load_columns(Load.model_validate(given))
    }
    text = section(DEFINITIONS, "`load`")
    assert len(written) == 7
    assert [name for name in sorted(written) if f"`{name}`" not in text] == []


def test_every_folder_and_encoding_is_named() -> None:
    assert [folder for folder in FOLDERS if f"  {folder}/" not in DEFINITIONS] == []
    assert [name for name in CSV_ENCODINGS if f"`{name}`" not in DEFINITIONS] == []


def test_the_examples_load(tmp_path: Path) -> None:
    dataset, source, target, job, profile, rule, policy = examples(DEFINITIONS, "yaml")
    load(
        tmp_path,
        {
            "definitions/silver/flights.yaml": dataset,
            "definitions/sources/orders.yaml": source,
            "definitions/targets/raw_zone.yaml": target,
            "definitions/jobs/load_orders.yaml": job,
            "definitions/profiles/lenient.yaml": profile,
            "definitions/rules/in_bounds.yaml": rule,
            "definitions/policies/no_pii.yaml": policy,
            "sql/flights.sql": "select * from bronze.flights\n",
        },
    )


def test_every_setting_is_documented_and_no_other() -> None:
    assert sorted(table_keys(SETTINGS)) == sorted([*TOP_KEYS, *ENV_KEYS])
    assert f"`{ENV_VARIABLE}`" in SETTINGS


def test_the_example_of_settings_is_read(tmp_path: Path) -> None:
    (example,) = examples(SETTINGS, "toml")
    (tmp_path / "lakeguard.toml").write_text(example)
    for env in tomllib.loads(example)["env"]:
        assert load_settings(tmp_path, env).env == env
