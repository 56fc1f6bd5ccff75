"""One session creates the archive, later ones use it; a damaged archive is created again."""

from __future__ import annotations

import os
from pathlib import Path

from openlaketx.engine.spark.session import ClassArchive


def archive(folder: Path, path: str = "jars") -> ClassArchive:
    return ClassArchive(folder / "classes", "java 17", path)


def left_by(option: str) -> Path:
    flag, _, place = option.partition("=")
    assert flag == "-XX:ArchiveClassesAtExit"
    return Path(place)


def test_the_first_session_makes_it_and_the_others_do_not_wait(tmp_path: Path) -> None:
    part = left_by(archive(tmp_path).java_option())
    assert archive(tmp_path).java_option() == ""
    part.write_bytes(b"")
    assert archive(tmp_path).java_option() == ""
    part.write_bytes(b"\0" * 4096)
    assert archive(tmp_path).java_option() == ""
    part.write_bytes(b"\xa8\xab\x0b\xf0" + b"\0" * 4092)
    used = archive(tmp_path).java_option()
    assert used.startswith("-XX:SharedArchiveFile=")
    assert Path(used.partition("=")[2]).stat().st_size == 4096
    assert archive(tmp_path).java_option() == used


def test_another_class_path_has_its_own(tmp_path: Path) -> None:
    first = left_by(archive(tmp_path).java_option())
    assert left_by(archive(tmp_path, "other jars").java_option()) != first


def test_one_that_java_refused_is_made_again(tmp_path: Path) -> None:
    left_by(archive(tmp_path).java_option()).write_bytes(b"\xa8\xab\x0b\xf0")
    assert "SharedArchiveFile" in archive(tmp_path).java_option()
    archive(tmp_path).reject()
    left_by(archive(tmp_path).java_option())


def test_a_session_that_died_before_leaving_it_is_forgotten(tmp_path: Path) -> None:
    part = left_by(archive(tmp_path).java_option())
    part.write_bytes(b"\0\0\0\0half")
    claim = next((tmp_path / "classes").glob("*.claim"))
    os.utime(claim, (1, 1))
    assert left_by(archive(tmp_path).java_option()) == part
    assert not part.exists()


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "classes").write_text("a file in the way")
    assert archive(tmp_path).java_option() == ""
