"""``lakeguard.toml``: strict, one environment at a time, and nothing in it weakens a check."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from lakeguard.settings import DatabaseSettings, RecordStore, find_project, load_settings
from lakeguard_sdk.errors import NoProject, SettingsError

FULL = """\
default_env = "prod"

[env.dev]

[env.prod]
lake = "data/lake"
database = "postgresql://keeper@db.example:5433/governance"
password = "env:KEEPER_PASSWORD"
schema = "My Schema"
organisation = "shop"

[env.prod.maintenance]
retention_days = 90
compact_after = 0

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
    assert (found.env, found.organisation) == ("dev", "default")
    assert found.folder == tmp_path
    assert found.lake == str(tmp_path)
    assert found.database == DatabaseSettings(file=tmp_path / ".lakeguard" / "state.db")
    assert found.database.schema_name == "lakeguard"
    assert found.spark == {}


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    found = load_settings(project(tmp_path, FULL))
    assert (found.env, found.organisation) == ("prod", "shop")
    assert found.lake == str(tmp_path / "data" / "lake")
    assert found.database.file is None
    assert found.database.server == "postgresql://keeper@db.example:5433/governance"
    assert found.database.schema_name == "My Schema"
    assert found.spark == {
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.adaptive.enabled": "true",
    }
    kept = found.maintenance
    assert (kept.retention_days, kept.inspection_days) == (90, 7)
    assert (kept.small_file_mb, kept.compact_after) == (128, 0)


def test_how_tasks_are_dispatched_can_be_set(tmp_path: Path) -> None:
    text = "[env.dev.dispatch]\nlease_seconds = 60\nattempts = 5\nbackoff_longest_seconds = 90\n"
    found = load_settings(project(tmp_path, text)).dispatch
    assert (found.lease_seconds, found.attempts, found.backoff_longest_seconds) == (60, 5, 90)
    assert (found.heartbeat_seconds, found.backoff_first_seconds, found.tick_seconds) == (30, 30, 5)


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


def test_an_environment_may_have_a_door_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOOR", "hush")
    folder = project(tmp_path, "[inbox]\nsecret = 'env:DOOR'\n[env.dev]\n[env.test.inbox]\n")
    secret = load_settings(folder, "dev").inbox.secret
    assert secret is not None
    assert secret.resolve() == "hush"
    assert "hush" not in repr(secret)
    assert load_settings(folder, "test").inbox.secret is None


def test_places_may_be_absolute(tmp_path: Path) -> None:
    text = '[env.dev]\nlake = "/srv/lake"\ndatabase = "sqlite:/srv/state.db"\n'
    found = load_settings(project(tmp_path, text))
    assert (found.lake, str(found.database.file)) == ("/srv/lake", "/srv/state.db")
    by_uri = '[env.dev]\nlake = "file:///srv/lake"\n'
    assert load_settings(project(tmp_path, by_uri)).lake == "file:///srv/lake"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = ", "invalid TOML"),
        ("x = " + "[" * 5000, "nested too deeply"),
        ("enviroment = 1", "unknown key 'enviroment'"),
        ("defaultenv = 'dev'", "did you mean default_env?"),
        ("[env.dev]\nlak = 'x'", "unknown key 'lak' in [env.dev]; did you mean lake?"),
        ("[env.prod]\nlak = 'x'\n[env.dev]", "unknown key 'lak' in [env.prod]"),
        ("[env.prod]", "unknown environment 'dev'"),
        ("default_env = 'prd'\n[env.prod]", "'prd'; did you mean prod?"),
        ("default_env = 'prod'", "unknown environment 'prod'"),
        ("env = 1", "env: write a table"),
        ("[env]\ndev = 1", "env.dev: write a table, [env.dev]"),
        ("[env.dev]\n[env.Dev]", "lower snake case"),
        ("[env.dev]\nlake = 1", "env.dev.lake: must not be empty"),
        ("[env.dev]\nmaintenance = 1", "env.dev.maintenance: write a table"),
        ("[env.dev.maintenance]\nretention = 1", "did you mean retention_days?"),
        ("[env.dev.maintenance]\nretention_days = -1", "write a whole number from 0"),
        ("[env.dev.maintenance]\ncompact_after = true", "compact_after: write a whole number"),
        ("[env.dev.maintenance]\nsmall_file_mb = 0", "write a whole number from 1"),
        ("[env.dev]\ndispatch = 1", "env.dev.dispatch: write a table"),
        ("[env.dev.dispatch]\nlease_second = 1", "did you mean lease_seconds?"),
        ("[env.dev.dispatch]\nattempts = 0", "attempts: write a whole number from 1 to 100"),
        ("[env.dev.dispatch]\nquiet_seconds = -1", "quiet_seconds: write a whole number from 0"),
        ("[env.dev.dispatch]\ntick_seconds = 86401", "tick_seconds: write a whole number"),
        ("[env.dev.dispatch]\nlease_seconds = 59", "must be at most half of the lease"),
        ("[env.dev.dispatch]\nbackoff_first_seconds = 601", "longer than the maximum backoff"),
        ("inbox = 1", "inbox: write a table"),
        ("[inbox]\nsecrt = 'env:A'", "unknown key 'secrt' in [inbox]; did you mean secret?"),
        ("[inbox]\nsecret = 'hush'\n[env.dev.inbox]", "inbox.secret: a secret must be a reference"),
        ("[env.dev.inbox]\nsecret = 'hush'", "env.dev.inbox.secret: a secret must be a reference"),
        ("[env.dev]\nlake = ''", "env.dev.lake: must not be empty"),
        ("[env.dev]\nlake = 'ftp://host'", "env.dev.lake: ftp:// is not supported"),
        ("[env.dev]\nlake = 's3://k:s@b/x'", "env.dev.lake: write s3://BUCKET/FOLDER"),
        ("[env.dev]\nlake = 's3://bucket/a/../b'", "env.dev.lake: write s3://BUCKET/FOLDER"),
        (
            "[env.dev]\nlake = 'abfss://raw@lake.dfs.core.windows.net/a'",
            "env.dev.lake: abfss:// has no access for Spark yet; write a folder, or s3://",
        ),
        ("[env.dev]\nlake = 'gs://bucket/a'", "env.dev.lake: gs:// is not supported"),
        ("[env.dev.storage]\naccess_key = 'env:A'", "write both access_key and secret_key"),
        (
            "[env.dev.storage]\nendpoint = 'http://store.example'",
            "env.dev.storage.endpoint: write https://; http:// is for a store on this machine",
        ),
        ("[env.dev.storage]\nendpoint = ''", "env.dev.storage.endpoint: must not be empty"),
        ("[env.dev.storage]\nregion = ' '", "env.dev.storage.region: must not be empty"),
        ("[env.dev.storage]\nretry_seconds = 0", "env.dev.storage.retry_seconds: write a whole"),
        ("[env.dev.storage]\nsecret_key = 'AKIA'", "env.dev.storage.secret_key: a secret must be"),
        ("[env.dev.storage]\nregion = 'eu-central-1'", "env.dev.storage: the lake is a folder"),
        ("[env.dev]\ndatabase = 'postgresql://h'", "env.dev.database: write one database"),
        ("[env.dev]\ndatabase = 'postgresql://h/a/b'", "write one database"),
        ("[env.dev]\ndatabase = 'postgresql:///d'", "write one host"),
        ("[env.dev]\ndatabase = 'postgresql://h/d?host=/run'", "write one host"),
        ("[env.dev]\ndatabase = 'postgresql:///d?host=h'", "write @HOST:PORT"),
        ("[env.dev]\ndatabase = 'postgresql://h:port/d'", "write postgresql://USER@HOST:PORT"),
        ("[env.dev]\ndatabase = 'postgresql://h/d?sslmod=x'", "did you mean sslmode?"),
        ("[env.dev]\ndatabase = 'postgresql://h/d?options=x'", "unknown URL option"),
        ("[env.dev]\ndatabase = 'mysql:x'", "write sqlite:PATH"),
        ("[env.dev]\ndatabase = 'sqlite::memory:'", "write sqlite:PATH"),
        ("[env.dev]\ndatabase = 'sqlite:'", "write sqlite:PATH"),
        ("[env.dev]\ndatabase = 'sqlite:///x'", "write sqlite:PATH"),
        ("[env.dev]\nschema = 1", "env.dev.schema: write a text"),
        ("[env.dev]\nschema = ''", "env.dev.schema: a schema name must have 1 to 63 bytes"),
        (
            f"[env.dev]\nschema = '{'ü' * 32}'",
            "env.dev.schema: a schema name must have 1 to 63 bytes",
        ),
        ("[env.dev]\nschema = 'pg_x'", "'pg_x' is reserved by PostgreSQL"),
        ("[env.dev]\nschema = '$user'", "'$user' is reserved by PostgreSQL"),
        ('[env.dev]\nschema = "a\\u0000b"', "env.dev.schema: write a text"),
        ("[env.dev]\npassword = 'env:P'", "env.dev.password: a SQLite file has no password"),
        ("[env.dev]\npassword = 'env:'", "env.dev.password: a secret must be a reference"),
        ("[env.dev]\norganisation = '../x'", "env.dev.organisation: '../x'"),
        ("[env.dev]\nspark = 'x'", "env.dev.spark: write a table"),
        ("[env.dev.spark]\ndriver.memory = '2g'", "driver.memory: a Spark option must start with"),
        ("[env.dev.spark]\n'spark.x' = [1]", "spark.x: a value must be"),
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


SERVER = "[env.dev]\ndatabase = 'postgresql://keeper@db.example/governance'\n"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://keeper:hunter2@db/x",
        "postgres://keeper:hunter2@db/x",
        "postgresql://:hunter2@db/x",
        "postgresql://keeper:hun@hunter2@db/x",
        "postgresql://keeper:12/hunter2@db/x",
        "postgresql://keeper:hunter2/@db/x",
        "postgresql://keeper:12#hunter2@db/x",
        "postgresql://keeper:12?hunter2@db/x",
        "postgresql://keeper@db/x?password=hunter2",
        "postgresql://keeper@db/x?passwrd=hunter2",
        "postgresql://keeper@db/x?sslpassword=hunter2",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_shown(address: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"env\.dev\.database") as refused:
        load_settings(project(tmp_path, f"[env.dev]\ndatabase = '{address}'"))
    assert "hunter2" not in repr(refused.value.to_data())


@pytest.mark.parametrize("written", ["hunter2", "secret:hunter2", "env:hunter2!", "hunter2:x"])
def test_a_password_is_named_and_not_written(written: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="write env:NAME or file:PATH") as refused:
        load_settings(project(tmp_path, f"{SERVER}password = '{written}'"))
    assert "hunter2" not in repr(refused.value.to_data())


def test_a_password_is_looked_up_when_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KEEPER", raising=False)
    found = load_settings(project(tmp_path, f"{SERVER}password = 'env:KEEPER'")).database.password
    assert found is not None
    with pytest.raises(SettingsError, match=r"env\.dev\.password: the variable KEEPER is not set"):
        found.resolve()
    monkeypatch.setenv("KEEPER", "hunter2")
    assert found.resolve() == "hunter2"
    assert "hunter2" not in repr(found)


def test_a_password_file_is_beside_the_project(tmp_path: Path) -> None:
    text = f"{SERVER}password = 'file:secrets/keeper'"
    found = load_settings(project(tmp_path, text)).database.password
    assert found is not None
    file = tmp_path / "secrets" / "keeper"
    with pytest.raises(SettingsError, match=r"env\.dev\.password: .*No such file"):
        found.resolve()
    file.parent.mkdir()
    for content, problem in ((b"\n", "is empty"), (b"\xff", "not UTF-8")):
        file.write_bytes(content)
        with pytest.raises(SettingsError, match=problem):
            found.resolve()
    file.write_text(" hunter 2 \n")
    assert found.resolve() == " hunter 2 "


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("postgres://u@h:5432/d", "postgresql://u@h:5432/d"),
        ("postgresql://u@/d?host=/run/pg", "postgresql://u@/d?host=%2Frun%2Fpg"),
        ("postgresql://u@h/d?sslmode=require", "postgresql://u@h/d?sslmode=require"),
        ("postgresql://h/d?sslrootcert=system", "postgresql://h/d?sslrootcert=system"),
    ],
)
def test_a_server_may_be_named_in_these_ways(written: str, read: str, tmp_path: Path) -> None:
    found = load_settings(project(tmp_path, f"[env.dev]\ndatabase = '{written}'"))
    assert found.database.server == read


def test_a_certificate_is_beside_the_project(tmp_path: Path) -> None:
    text = "[env.dev]\ndatabase = 'postgresql://h/d?sslrootcert=ca.pem'"
    server = load_settings(project(tmp_path, text)).database.server
    assert parse_qs(urlsplit(server).query) == {"sslrootcert": [str(tmp_path / "ca.pem")]}


@pytest.mark.parametrize("name", ["My Schema", 'we"ird', "ünïcode", "a; drop", " ", "x" * 63])
def test_a_schema_has_any_name_that_can_be_quoted(name: str, tmp_path: Path) -> None:
    found = load_settings(project(tmp_path, f"[env.dev]\nschema = '{name}'"))
    assert found.database.schema_name == name


def test_records_are_in_the_state_unless_another_store_is_named(tmp_path: Path) -> None:
    project(tmp_path, "[env.dev.records]\n")
    assert load_settings(tmp_path).records.store is RecordStore.SQL
    project(tmp_path, '[env.dev.records]\nstore = "files"\n')
    assert load_settings(tmp_path).records.store is RecordStore.FILES
    project(tmp_path, '[env.dev.records]\nstore = "elsewhere"\n')
    with pytest.raises(SettingsError, match=r"env\.dev\.records\.store: write sql"):
        load_settings(tmp_path)
