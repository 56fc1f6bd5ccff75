"""A run reads files below the roots of its plan alone, whatever links lead to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.source_roots import is_below_roots
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.extract import extract
from openlaketx.pipeline.run_dataset import build_hash
from tests.support.lakes.plans import plan, schema


class Reached(Exception):
    """The session was asked for, so no check refused the source."""


def no_session() -> Any:
    raise Reached()


def read(
    folder: Path,
    path: str,
    kind: SourceFormat = SourceFormat.CSV,
    sessions: Callable[[], Any] = no_session,
) -> None:
    build = SourceBuild(source="s", format=kind, path=path, roots=(str(folder / "in"),))
    made = plan(folder / "lake", build, schema(id="long"), load=LoadType.FULL)
    extract(made, cast(Any, sessions), str(folder / "lake"), LocalStorage())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("lake", "in", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "in" / "a.csv").write_text("id\n1\n")
    (tmp_path / "elsewhere" / "secret.csv").write_text("id\n2\n")
    return tmp_path


def test_files_below_a_root_are_read(folder: Path) -> None:
    with pytest.raises(Reached):
        read(folder, f"{folder}/in/*.csv")


@pytest.mark.parametrize("path", ["elsewhere/*.csv", "in/../elsewhere/secret.csv", "inn/a.csv"])
def test_other_paths_are_refused(folder: Path, path: str) -> None:
    with pytest.raises(SourceUnreadable, match="source_roots"):
        read(folder, f"{folder}/{path}")


@pytest.mark.parametrize("name", ["b.csv", "[b].csv"])
def test_a_linked_file_is_refused(folder: Path, name: str) -> None:
    (folder / "in" / name).symlink_to(folder / "elsewhere" / "secret.csv")
    with pytest.raises(SourceUnreadable, match="source_roots"):
        read(folder, f"{folder}/in/*.csv")


def test_a_linked_folder_is_refused(folder: Path) -> None:
    (folder / "in" / "more").symlink_to(folder / "elsewhere")
    for path in ("in/more/*.csv", "in/*/secret.csv"):
        with pytest.raises(SourceUnreadable, match="source_roots"):
            read(folder, f"{folder}/{path}")


def test_a_delta_table_keeps_its_files_below_the_root(folder: Path) -> None:
    write_deltalake(folder / "in" / "t", pa.table({"id": [1]}))
    (file,) = (folder / "in" / "t").glob("*.parquet")
    file.rename(folder / "elsewhere" / "moved.parquet")
    file.symlink_to(folder / "elsewhere" / "moved.parquet")
    with pytest.raises(SourceUnreadable, match="source_roots"):
        read(folder, f"{folder}/in/t", SourceFormat.DELTA, lambda: None)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("s3://b/in/x.csv", True),
        ("s3://b/in/*.csv", True),
        ("s3://b/inn/x.csv", False),
        ("s3://b/in/../x.csv", False),
        ("s3://other/in/x.csv", False),
        ("/srv/in", True),
        ("file:///srv/in/x", True),
        ("/srv/in/*/../../x", False),
        ("x.csv", False),
        ("", False),
    ],
)
def test_paths_and_roots(path: str, *, allowed: bool) -> None:
    assert is_below_roots(path, "/lake", ["s3://b/in", "/srv/in"]) is allowed


def test_roots_are_no_part_of_what_is_built(folder: Path) -> None:
    build = SourceBuild(source="s", format=SourceFormat.CSV, path="in/*.csv")
    kept = build.model_copy(update={"roots": ("/srv",)})
    of = [plan(folder, each, schema(id="long"), load=LoadType.FULL) for each in (build, kept)]
    assert build_hash(of[0]) == build_hash(of[1])
