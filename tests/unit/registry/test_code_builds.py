"""Python builds and DataFrame builds."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.store import require_dataset
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    FromFrame,
    FromPython,
    FromSource,
)
from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import (
    GOLD,
    SHOP,
    SILVER,
    load,
    mistakes,
    places_and_codes,
)
from tests.support.projects.definitions import dataset, shop
from tests.support.projects.registries import small_registry

FILE = "definitions/silver/orders.yaml"
CODE = "def clean(spark, inputs):\n    return inputs['bronze.orders']\n"
PYTHON = SILVER.replace("{sql: sql/orders.sql}", "{python: jobs/clean.py:clean}")
HASH = hashlib.sha256(CODE.encode()).hexdigest()
PLACES = [
    Case("no function", PYTHON, "jobs/clean.py:clean", "«jobs/clean.py»", "LG-2004",
         "jobs/orders.py:build"),
    Case("odd function", PYTHON, "jobs/clean.py:clean", "«jobs/clean.py:a.b»", "LG-2004",
         "write FILE:FUNCTION"),
    Case("outside", PYTHON, "jobs/clean.py:clean", "«../clean.py:clean»", "LG-2004",
         "inside the project"),
    Case("absolute", PYTHON, "jobs/clean.py:clean", "«/etc/clean.py:clean»", "LG-2004", "inside"),
    Case("another kind", PYTHON, "jobs/clean.py:clean", "«jobs/clean.sh:clean»", "LG-2004", ".py"),
    Case("missing", PYTHON, "jobs/clean.py:clean", "«jobs/clen.py:clean»", "LG-2007",
         "did you mean jobs/clean.py?"),
    Case("unknown function", PYTHON, "jobs/clean.py:clean", "jobs/clean.py:«claen»", "LG-2037",
         "did you mean clean?"),
    Case("both kinds of code", PYTHON, "{python: jobs/clean.py:clean}",
         "{sql: sql/orders.sql, «python»: jobs/clean.py:clean}", "LG-2004", "not both"),
    Case("neither", PYTHON, "{python: jobs/clean.py:clean}", "{«sql»: }", "LG-2003", "'sql'"),
    Case("another word", PYTHON, "{python: jobs/clean.py:clean}", "«frames»", "LG-2004",
         "frame or pending"),
    Case("no inputs", PYTHON, "parents: [bronze.orders]\nbuild: {python: jobs/clean.py:clean}",
         "build: {python: «jobs/clean.py:clean»}", "LG-2003", "'parents'"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def code(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "clean.py").write_text(CODE)


def silver(folder: Path, files: dict[str, str | bytes]) -> DatasetDefinition:
    found = load(folder, {**SHOP, **files}).datasets
    return next(item for item in found if item.dataset == "silver.orders")


@pytest.mark.parametrize("case", PLACES, ids=str)
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    check(case, FILE, tmp_path)


def test_a_function_is_known_by_the_bytes_of_its_file(tmp_path: Path) -> None:
    expected = FromPython(file="jobs/clean.py", function="clean", sha256=HASH)
    assert silver(tmp_path, {FILE: PYTHON}).build == expected


@pytest.mark.parametrize(
    "text",
    [
        "import pyspark\n\n\n@staticmethod\ndef clean(spark, inputs):\n    ...\n",
        "def clean(a): ...\ndef clean(spark, /, inputs): ...\n",
        "def clean(spark: object, inputs: dict[str, object] = {}) -> object: ...\n",
        "def clean(spark, inputs, parameters): ...\n",
        "\ufeffdef clean(spark, inputs): 'ünï'\r\n",
    ],
)
def test_functions_that_are_taken(text: str, tmp_path: Path) -> None:
    build = silver(tmp_path, {FILE: PYTHON, "jobs/clean.py": text}).build
    assert isinstance(build, FromPython)
    assert build.sha256 == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("def clean(spark): ...\n", "jobs/clean.py:1:1", "def clean(spark, inputs)"),
        ("x = 1\ndef clean(a, b, c, d): ...\n", "jobs/clean.py:2:1", "inputs, parameters)"),
        ("def clean(a, b, *c): ...\n", "jobs/clean.py:1:1", "inputs, parameters)"),
        ("def clean(a, b, **c): ...\n", "jobs/clean.py:1:1", "inputs, parameters)"),
        ("def clean(a, b, *, c=1): ...\n", "jobs/clean.py:1:1", "inputs, parameters)"),
        ("async def clean(a, b): ...\n", "jobs/clean.py:1:1", "async"),
        ("class A:\n    def clean(a, b): ...\n", f"{FILE}:5:31", "top-level"),
        ("clean = print\n", f"{FILE}:5:31", "top-level"),
        ("x = 1\ndef clean(:\n", "jobs/clean.py:2:11", "invalid Python"),
        ("x = '\0'\n", "jobs/clean.py:1:1", "invalid Python"),
        ("(" * 5000, "jobs/clean.py:1:", "invalid Python"),
        (b"x = 1\n\xff", "jobs/clean.py:2:1", "not UTF-8"),
        ("#" * 1_000_001, "jobs/clean.py:1:1", "larger than"),
    ],
)
def test_files_that_are_refused(text: str | bytes, place: str, says: str, tmp_path: Path) -> None:
    (error,) = mistakes(tmp_path, {**SHOP, FILE: PYTHON, "jobs/clean.py": text})
    assert str(error.place).startswith(place)
    assert error.code == "LG-2037"
    assert says in str(error)


def test_nothing_is_run(tmp_path: Path) -> None:
    text = f"open({str(tmp_path / 'ran')!r}, 'w')\n{CODE}"
    silver(tmp_path, {FILE: PYTHON, "jobs/clean.py": text})
    assert not (tmp_path / "ran").exists()


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(CODE)
    project = tmp_path / "project"
    (project / "jobs").mkdir(parents=True)
    os.symlink(outside, project / "jobs" / "clean.py")
    assert places_and_codes(mistakes(project, {**SHOP, FILE: PYTHON})) == [f"{FILE}:5:17 LG-2004"]


def test_a_secret_in_code_is_refused(tmp_path: Path) -> None:
    text = CODE + "TOKEN = 'ghp_" + "a1B2c3D4" * 5 + "'\n"
    (error,) = mistakes(tmp_path, {**SHOP, FILE: PYTHON, "jobs/clean.py": text})
    assert (error.code, error.place.file) == ("LG-2021", "jobs/clean.py")


def test_an_edit_of_the_code_is_seen_through_the_cache(tmp_path: Path) -> None:
    (tmp_path / ".lakeguard").mkdir()
    first = silver(tmp_path, {FILE: PYTHON}).build
    assert silver(tmp_path, {FILE: PYTHON}).build == first
    changed = silver(tmp_path, {FILE: PYTHON, "jobs/clean.py": CODE + "# more\n"}).build
    assert isinstance(changed, FromPython)
    assert changed.sha256 != HASH
    (tmp_path / "jobs/clean.py").write_text("def clean(spark): ...\n")
    with pytest.raises(InvalidDefinitions):
        load_folder(tmp_path)


def test_two_spellings_of_one_file(tmp_path: Path) -> None:
    gold = GOLD.replace("{sql: sql/revenue.sql}", "{python: jobs/Clean.py:clean}")
    files = {**SHOP, FILE: PYTHON, "jobs/Clean.py": CODE, "definitions/gold/revenue.yaml": gold}
    (error,) = mistakes(tmp_path, files)
    assert "the same file on some file systems" in str(error)


def test_a_frame_needs_neither_source_nor_parents(tmp_path: Path) -> None:
    text = SILVER.replace("parents: [bronze.orders]\nbuild: {sql: sql/orders.sql}", "build: frame")
    found = silver(tmp_path, {FILE: text})
    assert (found.build, found.parents) == (FromFrame(), ())


def test_a_frame_of_gold_still_stands_on_silver(tmp_path: Path) -> None:
    text = GOLD.replace("parents: [silver.orders]\nbuild: {sql: sql/revenue.sql}", "build: frame")
    (error,) = mistakes(tmp_path, {**SHOP, "definitions/gold/revenue.yaml": text})
    assert error.code == "LG-2009"


@pytest.mark.parametrize(
    "given",
    [
        {"file": "../x.py", "function": "f", "sha256": HASH},
        {"file": "x.sql", "function": "f", "sha256": HASH},
        {"file": "x.py", "function": "f()", "sha256": HASH},
        {"file": "x.py", "function": "f", "sha256": "ABC"},
    ],
)
def test_a_build_from_a_strangers_hand(given: dict[str, str], tmp_path: Path) -> None:
    odd = dataset("silver.orders", "bronze.orders", build=FromPython(**given))
    with small_registry(tmp_path) as registry, pytest.raises(InvalidDefinitions) as invalid:
        registry.plan(shop(datasets=(dataset("bronze.orders"), odd)))
    assert [error.code for error in invalid.value.errors] == ["LG-2004"]


def test_another_kind_of_build_keeps_the_dataset(tmp_path: Path) -> None:
    build = FromPython(file="jobs/clean.py", function="clean", sha256=HASH)
    with small_registry(tmp_path) as registry:
        registry.register(shop())
        registry.register(
            shop(
                datasets=(
                    dataset("gold.revenue", "silver.orders"),
                    dataset("silver.orders", "bronze.orders", build=build),
                    dataset("bronze.orders", build=FromSource(source="orders")),
                )
            )
        )
        with OrganisationState.of(registry.database, "default").read() as tx:
            held = require_dataset(tx, DatasetName("silver.orders"))
    assert held.definition.build == build
    assert held.revision == 2
