"""Cases of the suite of ``verify``, on a lake in S3 that somebody wrote to past LakeGuard."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.state.database import Database
from tests.contract.ledger.test_verify_lake import (  # noqa: F401 - the same suite
    test_a_commit_that_is_gone,
    test_a_direct_append,
    test_a_file_replaced_by_one_of_the_same_size,
    test_a_ledger_file_that_is_gone,
    test_a_ledger_table_whose_log_is_torn,
    test_a_table_that_is_gone,
    test_an_owner_file_that_is_gone_or_torn,
    test_the_copy_is_proven_too,
)
from tests.support.lakes.s3_server import S3Server, StorePath
from tests.support.lakes.verified_lakes import ProvenLake, make_proven_lake


@pytest.fixture(scope="session")
def original(s3_server: S3Server, bucket: StorePath) -> Path:
    with s3_server.lakes_as_folders(bucket / "original") as folder:
        database = Database(f"sqlite:///{folder}/state.db")
        make_proven_lake(database, folder, str(bucket / "original")).database.close()
    return folder


@pytest.fixture
def lake(original: Path, s3_server: S3Server, store: StorePath) -> Iterator[ProvenLake]:
    folder = s3_server.folder / str(store).removeprefix("s3://")
    shutil.copytree(original, folder)
    database = Database(f"sqlite:///{folder}/state.db")
    yield ProvenLake(database, folder, str(store))
    database.close()
