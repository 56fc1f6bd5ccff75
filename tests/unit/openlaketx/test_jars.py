"""A jar that is missing or damaged is refused by name, with the command that mends it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lakeguard_sdk.errors import JarsMissing
from openlaketx.engine.health_check import checkup
from openlaketx.engine.spark import jars


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the real cache, to damage."""
    fetched = jars.verify()
    monkeypatch.setenv("LAKEGUARD_CACHE", str(tmp_path / "cache"))
    shutil.copytree(fetched[0].parent, jars.jar_folder())
    return jars.jar_folder()


def test_a_whole_cache_gives_every_locked_jar(cache: Path) -> None:
    paths = [cache / jar.name for jar in jars.locked_jars()]
    assert jars.delta_jars() == jars.verify() == jars.fetch() == paths


@pytest.mark.parametrize("wanted", [jars.DELTA, jars.S3], ids=lambda wanted: wanted.name)
def test_an_absent_cache_names_the_command(
    wanted: jars.JarSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEGUARD_CACHE", str(tmp_path))
    with pytest.raises(JarsMissing, match="is missing") as refused:
        jars.verify(wanted)
    program, _, argument = refused.value.next_step.rpartition(" ")
    assert program == "python -m openlaketx.engine.spark.jars"
    assert jars.named(argument) is wanted


@pytest.mark.parametrize(("lake", "also"), [("/lake", []), ("s3://bucket/lake", ["S3 jars"])])
def test_the_health_check_names_jars_that_the_lake_needs(
    lake: str, also: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEGUARD_CACHE", str(tmp_path))
    missing = {name: fix for name, there, _, fix in checkup(lake) if not there}
    assert list(missing) == ["Delta jars", *also]
    assert all(fix.startswith("python -m openlaketx") for fix in missing.values())


@pytest.mark.parametrize("jar", jars.locked_jars(), ids=lambda jar: jar.name)
def test_a_missing_jar_is_named(cache: Path, jar: jars.LockedJar) -> None:
    (cache / jar.name).unlink()
    with pytest.raises(JarsMissing, match=f"{jar.name} is missing"):
        jars.delta_jars()


@pytest.mark.parametrize("jar", jars.locked_jars(), ids=lambda jar: jar.name)
def test_a_cut_jar_is_refused_each_time(cache: Path, jar: jars.LockedJar) -> None:
    with (cache / jar.name).open("r+b") as file:
        file.truncate(jar.size - 1)
    with pytest.raises(JarsMissing, match=f"{jar.name} is damaged: {jar.size - 1} bytes"):
        jars.delta_jars()


@pytest.mark.parametrize("jar", jars.locked_jars(), ids=lambda jar: jar.name)
def test_a_changed_byte_is_found_by_verify(cache: Path, jar: jars.LockedJar) -> None:
    with (cache / jar.name).open("r+b") as file:
        file.seek(jar.size // 2)
        byte = file.read(1)[0]
        file.seek(jar.size // 2)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(JarsMissing, match=f"{jar.name} is damaged: its checksum"):
        jars.verify()


@pytest.mark.parametrize(
    ("settings", "folder"),
    [
        ({"LAKEGUARD_CACHE": "/own", "XDG_CACHE_HOME": "/shared", "HOME": "/me"}, "/own"),
        ({"XDG_CACHE_HOME": "/shared", "HOME": "/me"}, "/shared/lakeguard"),
        ({"XDG_CACHE_HOME": "", "HOME": "/me"}, "/me/.cache/lakeguard"),
    ],
    ids=["own", "shared", "home"],
)
def test_the_cache_is_where_the_user_says(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], folder: str
) -> None:
    for name in ("LAKEGUARD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert jars.jar_folder() == Path(folder) / "jars" / "delta-spark_4.2_2.13-4.4.0"


@pytest.mark.parametrize("held", [jars.DELTA, jars.S3], ids=lambda held: held.name)
def test_the_lock_holds_the_jars_of_the_coordinates(held: jars.JarSet) -> None:
    names = {jar.name for jar in jars.locked_jars(held)}
    assert {
        f"{coordinate.replace(':', '_', 1).replace(':', '-')}.jar"
        for coordinate in held.coordinates
    } <= names


def test_a_failed_fetch_leaves_what_was_there(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = jars.locked_jars()[0]
    (cache / jar.name).unlink()
    before = sorted(cache.parent.rglob("*"))
    monkeypatch.setenv("JAVA_HOME", str(cache / "no-java-here"))
    with pytest.raises(JarsMissing, match=r"could not be downloaded: .*no-java-here"):
        jars.fetch()
    assert sorted(cache.parent.rglob("*")) == before


def test_a_spark_that_delta_is_not_made_for_gets_the_driver_alone(cache: Path) -> None:
    assert jars.jars_for("4.2.0", delta=True) == jars.delta_jars()
    assert [jar.name for jar in jars.jars_for("3.5.9", delta=False)] == [
        "org.postgresql_postgresql-42.7.14.jar"
    ]
    with pytest.raises(JarsMissing, match=r"they are for Spark 4\.2, not 3\.5\.9"):
        jars.jars_for("3.5.9", delta=True)
