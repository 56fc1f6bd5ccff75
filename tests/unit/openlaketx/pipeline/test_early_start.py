"""Spark starts early where a run needs it for certain, and never for a source without new files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.evidence import VersionPosition
from lakeguard_sdk.model.run import PythonBuild, RunPlan, SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.extract.files.manifest import select_files
from openlaketx.isolation.batch_builder import LocalBuilder
from openlaketx.pipeline.early_start import needs_spark
from tests.support.fakes.source_history import SourceHistory
from tests.support.lakes.plans import plan, schema, write_files

A = schema(a="string")
PATTERN = "in/*"


def append(lake: Path, position: VersionPosition | None = None, **changed: Any) -> RunPlan:
    fields = {"source": "s", "format": SourceFormat.CSV, "path": PATTERN, "position": position}
    return plan(lake, SourceBuild(**{**fields, **changed}), A, load=LoadType.APPEND)


def read_so_far(lake: Path) -> SourceHistory:
    chosen = select_files(
        source="s",
        dataset="bronze.orders",
        pattern=PATTERN,
        root=str(lake),
        load=LoadType.APPEND,
        known=None,
        storage=LocalStorage(),
    )
    return SourceHistory(chosen.position)


def no_session() -> SparkSession:
    raise AssertionError("Spark was started")


def test_new_files_need_spark(tmp_path: Path) -> None:
    write_files(tmp_path, one="a\n1\n")
    assert needs_spark(append(tmp_path), str(tmp_path), SourceHistory())
    read = read_so_far(tmp_path)
    write_files(tmp_path, two="a\n2\n")
    assert needs_spark(append(tmp_path, read.position), str(tmp_path), read)


def test_a_source_without_new_files_starts_no_spark(tmp_path: Path) -> None:
    write_files(tmp_path, one="a\n1\n", _marker="done", **{".hidden": "x"})
    (tmp_path / "in" / "folder").mkdir()
    read = read_so_far(tmp_path)
    made = append(tmp_path, read.position)
    assert not needs_spark(made, str(tmp_path), read)
    assert LocalBuilder(no_session, str(tmp_path), "", reader=read).describe(made) is None


def test_new_files_start_spark(tmp_path: Path) -> None:
    write_files(tmp_path, one="a\n1\n")
    with pytest.raises(AssertionError, match="started"):
        LocalBuilder(no_session, str(tmp_path), "").describe(append(tmp_path))


def test_code_of_users_has_a_session_of_its_own(tmp_path: Path) -> None:
    build = PythonBuild(file="jobs/a.py", function="build", sha256="sha256:0", inputs={})
    assert not needs_spark(plan(tmp_path, build, A), str(tmp_path), SourceHistory())
