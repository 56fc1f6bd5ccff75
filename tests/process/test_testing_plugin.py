"""The plug-in as pytest loads it: free where nobody asks for it, and what ``lake`` starts from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.definition_folders import SHOP, write_folder

pytest_plugins = "pytester"

FILES = {**SHOP, "lakeguard.toml": '[env.prod]\ndatabase = "postgresql://a@b:5432/c"\n'}
ASKING = """
import pytest

def test_applies(lake):
    lake.apply()
    assert [str(row.dataset_name) for row in lake.client.reader.datasets()] == [
        "bronze.orders", "gold.revenue", "silver.orders"
    ]
"""


def ended(pytester: pytest.Pytester, *arguments: str, passed: int = 0, failed: int = 0) -> str:
    """A run of its own process; what it printed."""
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
    result.assert_outcomes(passed=passed, failed=failed)
    return result.stdout.str()


def test_a_run_that_does_not_use_it_loads_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded(pytestconfig):
            assert pytestconfig.pluginmanager.has_plugin("lakeguard")
            ours = {name for name in sys.modules if name.startswith("lakeguard")}
            assert ours == {
                "lakeguard_sdk", "lakeguard_sdk.testing", "lakeguard_sdk.testing.plugin"
            }
            assert not {"pydantic", "httpx", "pyspark", "duckdb"} & set(sys.modules)
        """
    )
    ended(pytester, passed=1)


def test_a_lake_without_a_project_is_bare_and_needs_no_spark(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_bare(lake):
            assert [path.name for path in lake.folder.iterdir()] == ["lakeguard.toml"]
            lake.apply("source: orders\\nformat: csv\\npath: in/*.csv")
            assert lake.client.reader.datasets() == []
            assert "pyspark" not in sys.modules

        def test_none_of_it_is_left_for_the_next(lake):
            assert not lake.client.registry.definitions().sources
        """
    )
    ended(pytester, passed=2)


def test_a_project_where_pytest_starts_is_taken(pytester: pytest.Pytester) -> None:
    write_folder(pytester.path, {**FILES, "test_shop.py": ASKING})
    pytester.makeini("[pytest]")
    ended(pytester, passed=1)
    assert not (pytester.path / ".lakeguard").exists()


def test_the_settings_name_a_project(pytester: pytest.Pytester) -> None:
    write_folder(pytester.path / "shop", FILES)
    pytester.makeini("[pytest]\nlakeguard_project = shop\nlakeguard_spark =\n  spark.a = 1\n")
    pytester.makepyfile(
        ASKING
        + """
def test_options(lakeguard_spark):
    assert lakeguard_spark == {"spark.a": "1"}
"""
    )
    ended(pytester, passed=2)


def test_an_option_without_a_value_is_told(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nlakeguard_spark = spark.a 1\n")
    pytester.makepyfile(ASKING)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*lakeguard_spark: write key=value, not 'spark.a 1'"])


def test_a_marker_outranks_the_settings(pytester: pytest.Pytester) -> None:
    write_folder(pytester.path / "shop", FILES)
    pytester.makeini("[pytest]\nlakeguard_project = elsewhere\naddopts = --strict-markers\n")
    pytester.makepyfile(
        ASKING.replace("def test", '@pytest.mark.lakeguard_project("shop")\ndef test')
        + """
@pytest.mark.lakeguard_project(None)
def test_bare(lake):
    assert not (lake.folder / "definitions").exists()
"""
    )
    ended(pytester, passed=2)


def test_a_fixture_outranks_them_all(pytester: pytest.Pytester) -> None:
    write_folder(pytester.path / "shop", FILES)
    pytester.makepyfile(
        ASKING
        + """
@pytest.fixture
def lakeguard_project(request):
    return request.path.parent / "shop"
"""
    )
    ended(pytester, passed=1)


def test_a_project_that_is_none_is_told(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nlakeguard_project = shpo\n")
    pytester.makepyfile(ASKING)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*shpo, which has no folder definitions*"])


def test_a_mistake_is_told_with_its_place(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_mistaken(lake):
            lake.apply("source: orders\\nformat: cvs\\npath: in/*.csv")
        """
    )
    reported = ended(pytester, failed=1)
    assert "definitions/sources/orders.yaml:2:9: " in reported


def test_a_failing_assertion_shows_the_line_of_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from lakeguard_sdk.testing import assert_promoted

        def test_misspelt(lake):
            assert_promoted(lake, "silver.orders")
        """
    )
    reported = ended(pytester, failed=1)
    assert "E       AssertionError: no such dataset 'silver.orders'; there is none" in reported
    assert "judged.py" not in reported


def test_what_a_project_leaves_behind(tmp_path: Path) -> None:
    """Its settings, which may name the database of others, its data, and what is installed."""
    from lakeguard_sdk.testing.plugin import project_files

    left = {
        "data/orders.csv": "",
        "tests/conftest.py": "",
        ".venv/lib/a.py": "",
        "env/pyvenv.cfg": "",
        "env/lib/a.py": "",
        "silver/orders/_delta_log/0.json": "",
        "silver/orders/a.sql": "",
        "jobs/__pycache__/orders.py": "",
    }
    taken = {"jobs/orders.py": "x = 1\n", **SHOP}
    write_folder(tmp_path, {**left, **FILES, **taken})
    found = project_files(tmp_path)
    assert found == {path: text.encode() for path, text in taken.items()}


@pytest.mark.parametrize("given", ["", "()", '("a", "b")', '(folder="a")'])
def test_a_marker_without_its_folder_is_told(pytester: pytest.Pytester, given: str) -> None:
    pytester.makepyfile(
        ASKING.replace("def test", f"@pytest.mark.lakeguard_project{given}\ndef test")
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['*write @pytest.mark.lakeguard_project("folder")*'])
