"""The requests of a run follow neither the length of the history nor the number of files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.storage import storage_for
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.lakes.s3_server import S3Server, running_server
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

_COMMIT = re.compile(r"_delta_log/[0-9]{20}\.json ")
_OURS = "object_store/0.14"
"""Of this project's own requests; those of delta-rs name another version."""
_MORE = 8


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


@pytest.fixture
def server(tmp_path: Path, log: Path) -> Iterator[S3Server]:
    with running_server(tmp_path / "s3", access_log=log) as server:
        yield server


@pytest.fixture
def client(tmp_path: Path, server: S3Server) -> Client:
    with server.lakes_in(server.new_bucket("counted")):
        return numbers_project(tmp_path / "project")


def requests_of(client: Client, log: Path, runs: int) -> Counter[str]:
    """Of the last one of so many runs, without those of delta-rs and of the ledger."""
    for _ in range(runs - 1):
        run_by_hand(client, [1])
    before = _counted(log)
    run_by_hand(client, [1])
    return _counted(log) - before


def _counted(log: Path) -> Counter[str]:
    return Counter(_kind(line) for line in log.read_text("utf-8").splitlines() if _is_ours(line))


def _is_ours(line: str) -> bool:
    return _OURS in line and "/_lakeguard/" not in line


def _kind(line: str) -> str:
    operation = line.partition("s3_")[2].partition(" ")[0]
    if _COMMIT.search(line):
        return f"{operation} of commits"
    return f"{operation} of data" if "/runs/" in line else operation


def test_a_run_asks_as_much_after_many_runs_as_after_few(client: Client, log: Path) -> None:
    few = requests_of(client, log, 6)
    many = requests_of(client, log, _MORE)
    for kind in ("GetObject of commits", "HeadObject of commits"):
        assert many[kind] == few[kind], (few, many)
    read_by_the_test = many["HeadObject of data"] - few["HeadObject of data"]
    assert read_by_the_test == _MORE, "its evidence comes from the rows of every file"
    assert many["ListObjectsV2"] <= few["ListObjectsV2"] + 1, "compacted commits, if a log has any"
    assert many["HeadObject"] == few["HeadObject"] == 0


def test_an_old_commit_is_read_again_once_it_changed(client: Client) -> None:
    for _ in range(4):
        run_by_hand(client, [1])
    file = log_file(f"{client.for_worker().lake}/bronze/{NUMBERS.name}", 2)
    storage = storage_for(file)
    storage.replace(file, storage.read_bytes(file).replace(b'"operation"', b'"OPERATION"'))
    refused = run_by_hand(client, [1])
    assert refused.decision is not None
    assert "commit 2 was altered" in str(refused.decision.ruling.reasons)
