"""Sources may not point into tables, deliveries or own files, in an object store either."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeguard_sdk.storage.reserved_places import reserved_among, reserved_source
from lakeguard_sdk.storage.storage import join, storage_for
from tests.support.lakes.s3_server import StorePath

RUN = "run_01M7PKW52X209PH4CRZM194F5V"
MANIFEST = dict.fromkeys(
    ("dataset_id", "table_id", "version", "run_id", "decision_id", "files"), "1"
) | {"dataset": "silver.people"}


@pytest.fixture
def lake(store: StorePath) -> str:
    root = str(store / "lake")
    for name in ("zones/silver/people/_delta_log/0.json", "zones/plain/_delta_log/0.json"):
        storage_for(root).create(join(root, name), b"{}")
    delivered = "zones/silver/copied/v1/manifest.json"
    storage_for(root).create(join(root, delivered), json.dumps(MANIFEST).encode())
    storage_for(root).create(join(root, "data/manifest.json"), b"{}")
    return root


def is_governed(location: str) -> bool:
    return location.endswith("/people")


@pytest.mark.parametrize(
    "path",
    [
        "silver/people",
        "_lakeguard/default/runs",
        ".lakeguard/x",
        "quarantine/silver/people/*.parquet",
        "zones/silver/people",
        f"zones/any/runs/{RUN}/*.parquet",
        "zones/silver/people.files/v1/*.parquet",
        "zones/silver/copied/v1/*.parquet",
        "%73ilver/people",
        "data/../silver/people",
        "data//x",
        "data/./x",
    ],
)
def test_what_is_reserved_is_refused(path: str, lake: str) -> None:
    assert reserved_source(path, lake, is_governed) is not None
    assert reserved_source(join(lake, path), lake, is_governed) is not None


@pytest.mark.parametrize("path", ["data/*.csv", "zones/plain", "data/a=1/b?.parquet"])
def test_other_places_are_not(path: str, lake: str) -> None:
    assert reserved_source(path, lake, is_governed) is None


def test_files_that_match_a_wildcard_are_looked_at(lake: str) -> None:
    found = [join(lake, f"zones/silver/people.files/v{number}/a.csv") for number in range(3)]
    assert reserved_among(found, lake, is_governed) is not None
    assert reserved_among([join(lake, "data/a.csv")], lake, is_governed) is None


def test_a_local_file_is_a_source_of_such_a_lake(lake: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert reserved_source(f"{tmp_path}/*.csv", lake, is_governed) is None
    (tmp_path / "_lakeguard").mkdir()
    assert reserved_source(f"{tmp_path}/_lakeguard/x", lake, is_governed) is not None
