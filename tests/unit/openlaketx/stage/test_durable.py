"""Before a decision is asked for, everything that it is about is on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.storage import LocalStorage, join
from openlaketx.stage import make_durable
from tests.property.measure.staging import staged
from tests.spark.plans import parquet, plan, schema

DECLARED = schema(n="long")


class Remembering(LocalStorage):
    def __init__(self) -> None:
        self.synced: list[str] = []

    def make_durable(self, location: str) -> None:
        super().make_durable(location)
        self.synced.append(location)


def test_files_first_then_every_folder_that_names_them(tmp_path: Path) -> None:
    subject = staged(tmp_path, [{"n": 1}, {"n": 2}], [], DECLARED)
    storage = Remembering()
    made = plan(tmp_path, parquet(), DECLARED, location=str(tmp_path))
    make_durable(subject.candidate, made, storage).result()
    files = [file.path for file in subject.candidate.files]
    root = str(tmp_path)
    wanted = [join(root, path) for path in (*files, "runs/run_1", "runs")]
    assert storage.synced == [*wanted, root]


def test_a_disk_that_fails_is_not_passed_over(tmp_path: Path) -> None:
    class Failing(LocalStorage):
        def make_durable(self, location: str) -> None:
            raise OSError("no space left")

    subject = staged(tmp_path, [{"n": 1}], [], DECLARED)
    made = plan(tmp_path, parquet(), DECLARED, location=str(tmp_path))
    with pytest.raises(OSError, match="no space"):
        make_durable(subject.candidate, made, Failing()).result()
