"""Before the decision, all files are on disk and hashed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lakeguard_sdk.storage.file_records import footer_digest
from lakeguard_sdk.storage.storage import LocalStorage, join
from openlaketx.stage import seal
from tests.property.measure.staging import staged
from tests.support.lakes.plans import parquet, plan, schema

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
    seal(subject.batch, made, storage).result()
    files = [file.path for file in subject.batch.files]
    root = str(tmp_path)
    wanted = [join(root, path) for path in (*files, "runs/run_1", "runs")]
    assert storage.synced == [*wanted, root]


def test_a_file_that_is_on_disk_is_not_synced_again(tmp_path: Path) -> None:
    subject = staged(tmp_path, [{"n": 1}, {"n": 2}], [], DECLARED)
    storage = Remembering()
    made = plan(tmp_path, parquet(), DECLARED, location=str(tmp_path))
    first, second = (file.path for file in subject.batch.files)
    seal(subject.batch, made, storage, synced={first}).result()
    wanted = [join(str(tmp_path), path) for path in (second, "runs/run_1", "runs")]
    assert storage.synced == [*wanted, str(tmp_path)]


def test_every_file_has_the_hash_of_its_content(tmp_path: Path) -> None:
    subject = staged(tmp_path, [{"n": 1}, {"n": 2}], [], DECLARED)
    made = plan(tmp_path, parquet(), DECLARED, location=str(tmp_path))
    sealed = seal(subject.batch, made, LocalStorage()).result()
    assert len(sealed.files) == 2
    for before, file in zip(subject.batch.files, sealed.files, strict=True):
        assert file.sha256 == hashlib.sha256((tmp_path / file.path).read_bytes()).hexdigest()
        assert file.footer == footer_digest(str(tmp_path / file.path))
        assert file.model_copy(update={"sha256": "", "footer": ""}) == before


@pytest.mark.parametrize("step", ["make_durable", "sha256"])
def test_a_disk_that_fails_is_not_passed_over(tmp_path: Path, step: str) -> None:
    class Failing(LocalStorage):
        pass

    def fail(self: LocalStorage, location: str) -> None:
        raise OSError("no space left")

    setattr(Failing, step, fail)
    subject = staged(tmp_path, [{"n": 1}], [], DECLARED)
    made = plan(tmp_path, parquet(), DECLARED, location=str(tmp_path))
    with pytest.raises(OSError, match="no space"):
        seal(subject.batch, made, Failing()).result()
