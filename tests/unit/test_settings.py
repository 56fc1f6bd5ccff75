"""``lakeguard.toml``: strict, one environment at a time, and nothing in it weakens a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.settings import find_project, load_settings
from lakeguard_sdk.errors import NoProject, SettingsError

FULL = """\
default_env = "prod"

[env.dev]

[env.prod]
lake = "data/lake"
database = "sqlite:state/prod.db"
schema = "governance"
organisation = "shop"

[env.prod.spark]
spark.driver.memory = "2g"
"spark.sql.shuffle.partitions" = 8
spark.sql.adaptive.enabled = true
"""


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKEGUARD_ENV", raising=False)


def project(folder: Path, text: str = "") -> Path:
    (folder / "lakeguard.toml").write_text(text)
    return folder


def test_an_empty_file_is_a_project_with_defaults(tmp_path: Path) -> None:
    found = load_settings(project(tmp_path))
    assert (found.env, found.organisation, found.database_schema) == ("dev", "default", "lakeguard")
    assert found.folder == tmp_path
    assert found.lake == str(tmp_path)
    assert found.database_path == tmp_path / ".lakeguard" / "state.db"
    assert found.database_path == tmp_path / ".lakeguard" / "state.db"
    assert found.spark == {}


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    found = load_settings(project(tmp_path, FULL))
    assert (found.env, found.organisation) == ("prod", "shop")
    assert found.database_schema == "governance"
    assert found.lake == str(tmp_path / "data" / "lake")
    assert found.database_path == tmp_path / "state" / "prod.db"
    assert found.spark == {
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.adaptive.enabled": "true",
    }


def test_the_argument_comes_before_the_variable_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path, FULL + "\n[env.test]\n")
    assert load_settings(folder).env == "prod"
    monkeypatch.setenv("LAKEGUARD_ENV", "test")
    assert load_settings(folder).env == "test"
    assert load_settings(folder, "dev").env == "dev"
    monkeypatch.setenv("LAKEGUARD_ENV", "")
    assert load_settings(folder).env == "prod"


def test_places_may_be_absolute(tmp_path: Path) -> None:
    text = '[env.dev]\nlake = "/srv/lake"\ndatabase = "sqlite:/srv/state.db"\n'
    found = load_settings(project(tmp_path, text))
    assert (found.lake, str(found.database_path)) == ("/srv/lake", "/srv/state.db")
    by_uri = '[env.dev]\nlake = "file:///srv/lake"\n'
    assert load_settings(project(tmp_path, by_uri)).lake == "file:///srv/lake"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = ", "not readable as TOML"),
        ("x = " + "[" * 5000, "nested too deeply"),
        ("enviroment = 1", "unknown key 'enviroment'"),
        ("defaultenv = 'dev'", "did you mean default_env?"),
        ("[env.dev]\nlak = 'x'", "unknown key 'lak' in [env.dev]; did you mean lake?"),
        ("[env.prod]\nlak = 'x'\n[env.dev]", "unknown key 'lak' in [env.prod]"),
        ("[env.prod]", "there is no environment 'dev'"),
        ("default_env = 'prd'\n[env.prod]", "'prd'; did you mean prod?"),
        ("default_env = 'prod'", "there is no environment 'prod'"),
        ("env = 1", "env: write a table"),
        ("[env]\ndev = 1", "env.dev: write a table, [env.dev]"),
        ("[env.dev]\n[env.Dev]", "lower snake case"),
        ("[env.dev]\nlake = 1", "env.dev.lake: write a text"),
        ("[env.dev]\nlake = ''", "env.dev.lake: write a text"),
        ("[env.dev]\nlake = 's3://bucket'", "env.dev.lake: s3:// locations are not available yet"),
        ("[env.dev]\ndatabase = 'postgresql://h/d'", "PostgreSQL is not available yet"),
        ("[env.dev]\ndatabase = 'postgres://h/d'", "PostgreSQL is not available yet"),
        ("[env.dev]\ndatabase = 'mysql:x'", "write sqlite:PATH"),
        ("[env.dev]\ndatabase = 'sqlite::memory:'", "write sqlite:PATH"),
        ("[env.dev]\ndatabase = 'sqlite:'", "write sqlite:PATH"),
        ("[env.dev]\ndatabase = 'sqlite:///x'", "write sqlite:PATH"),
        ("[env.dev]\nschema = 'a; drop'", "env.dev.schema: 'a; drop'"),
        ("[env.dev]\norganisation = '../x'", "env.dev.organisation: '../x'"),
        ("[env.dev]\nspark = 'x'", "env.dev.spark: write a table"),
        ("[env.dev.spark]\ndriver.memory = '2g'", "driver.memory: a Spark option starts with"),
        ("[env.dev.spark]\n'spark.x' = [1]", "spark.x: an option's value is"),
        ("[env.dev.spark]\nspark.hadoop.fs.s3a.secret.key = 'x'", "looks like a secret"),
        ("[env.dev.spark]\nspark.x = 'AKIAIOSFODNN7EXAMPLE'", "looks like a secret"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(project(tmp_path, text))
    assert str(refused.value).startswith(f"{tmp_path}/lakeguard.toml: ")
    assert says in str(refused.value)
    assert "AKIA" not in str(refused.value)


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lakeguard.toml").write_bytes(b"# \xff\n")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_settings(tmp_path)


def test_a_project_is_found_from_below(tmp_path: Path) -> None:
    project(tmp_path)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_project(below) == tmp_path
    assert find_project(tmp_path) == tmp_path


def test_no_project_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoProject, match=r"no lakeguard\.toml"):
        find_project(tmp_path)
    with pytest.raises(NoProject):
        load_settings(tmp_path)


def test_a_folder_that_delta_cannot_open_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a%20b"
    folder.mkdir()
    (folder / "lakeguard.toml").write_text("[env.dev]\n")
    with pytest.raises(SettingsError, match="%"):
        load_settings(folder)
