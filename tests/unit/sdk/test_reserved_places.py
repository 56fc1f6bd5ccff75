"""Places inside a lake are read by name: no path, link or pattern of a source leads there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.storage.reserved_places import reserved_among, reserved_source

RESERVED = (
    "silver/p",
    "silver/p/runs/run_1/part-0.parquet",
    "silver/p/_delta_log/00000000000000000000.json",
    "gold",
    "quarantine/silver/p",
    "metadata/default/log",
    ".lakeguard/state.db",
    "_lakeguard/default/run_history",
    "landing/orders/ingest_date=2026-01-01/execution_id=run_1/a.csv",
)
OPEN = ("data/a.csv", "landing/a.csv", "landing/orders/a.csv", "silvery/p", "data/silver/p")


def nobody(_: str) -> bool:
    return False


def problem(path: str, lake: Path) -> str | None:
    return reserved_source(path, str(lake), nobody)


def put(lake: Path, name: str) -> Path:
    place = lake / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("x")
    return place


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    root = tmp_path / "lake"
    put(root, "_lakeguard/default/plane.json")
    for name in (*RESERVED[1:3], *RESERVED[5:], "data/a.csv"):
        put(root, name) if "." in Path(name).name else (root / name).mkdir(parents=True)
    return root


@pytest.mark.parametrize("path", RESERVED)
def test_own_places_are_reserved_however_they_are_written(lake: Path, path: str) -> None:
    for text in (path, f"data/../{path}", f"{lake}/{path}", f"file://{lake}/{path}"):
        assert problem(text, lake), text


@pytest.mark.parametrize("path", OPEN)
def test_other_places_are_not(lake: Path, path: str) -> None:
    assert problem(path, lake) is None


def test_the_message_names_the_parent(lake: Path) -> None:
    assert "`parents: [silver.p]`" in str(problem("silver/p", lake))
    assert "parents:" in str(problem("_lakeguard/default/run_history", lake))


def test_links_lead_nowhere_else(lake: Path, tmp_path: Path) -> None:
    (lake / "data/folder").symlink_to(lake / "silver")
    (lake / "data/file.parquet").symlink_to(lake / RESERVED[1])
    (tmp_path / "outside").symlink_to(lake / "quarantine")
    for path in ("data/folder/p", "data/file.parquet", "data/*.parquet", f"{tmp_path}/outside"):
        assert problem(path, lake), path


@pytest.mark.parametrize("pattern", ["*/p/runs/*/*.parquet", "**/*.parquet", "s?lver/**", "[s]*/*"])
def test_patterns_do_not_match_them(lake: Path, pattern: str) -> None:
    assert problem(pattern, lake)


def test_a_wildcard_does_not_mean_received_files(lake: Path) -> None:
    assert problem("**/*.csv", lake) is None
    assert problem("landing/*/*/*/*.csv", lake), "here it does"


def test_tables_of_another_lake_are_reserved(lake: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    assert problem(f"{lake}/silver/p", own)
    assert problem(f"{lake}/_lakeguard/default/run_history", own)
    assert problem(f"{lake}/data/a.csv", own) is None


def test_a_governed_table_is_reserved_wherever_it_is(lake: Path) -> None:
    put(lake, "zones/raw/p/_delta_log/00000000000000000000.json")
    file = put(lake, "zones/raw/p/runs/run_1/a.parquet")

    def ours(folder: str) -> bool:
        return folder.endswith("zones/raw/p")

    assert reserved_source("zones/raw/p", str(lake), ours)
    assert reserved_among([str(file)], str(lake), ours)
    assert reserved_among([str(file)], str(lake), nobody) is None


@pytest.mark.parametrize("inside", ["", "/part-0.parquet", "/incoming/part-0.parquet"])
def test_the_folder_of_a_run_is_reserved_before_its_table_exists(lake: Path, inside: str) -> None:
    run = f"zones/z/silver/p/runs/{new_id('run')}"
    file = put(lake, f"{run}/incoming/part-0.parquet")
    put(lake, f"{run}/part-0.parquet")
    assert problem(f"{run}{inside}", lake)
    assert problem("zones/z/silver/p/runs/*/*.parquet", lake)
    assert problem(str(file), lake.parent / "own"), "of another lake too"


@pytest.mark.parametrize("name", ["runs/run_1", "runs/run_2026-01-01", "run/{run}", "{run}"])
def test_other_folders_with_such_names_are_not(lake: Path, name: str) -> None:
    assert problem(f"data/{name.format(run=new_id('run'))}/a.csv", lake) is None


def test_a_file_with_several_names_is_refused_wherever_they_are(lake: Path, tmp_path: Path) -> None:
    plain = put(lake, "data/plain.csv")
    for number, own in enumerate((lake / "zones/t/a.parquet", tmp_path / "other/a.parquet")):
        own.parent.mkdir(parents=True)
        own.write_text("x")
        link = lake / f"data/link_{number}.csv"
        link.hardlink_to(own)
        found = str(reserved_among([str(plain), str(link)], str(lake), nobody))
        assert f"{link} is a hard link" in found
        assert "copy" in found
    assert reserved_among([str(plain)], str(lake), nobody) is None


KEYS = ("dataset_id", "table_id", "version", "run_id", "decision_id", "files")


def deliver(folder: Path) -> Path:
    """Files as a delivery leaves them."""
    file = put(folder, "v1/part-00000.csv")
    text = json.dumps({"dataset": "silver.p", **dict.fromkeys(KEYS)})
    put(folder, "v1/csv.json").write_text(text)
    put(folder, "manifest.json").write_text(text)
    return file


@pytest.mark.parametrize("place", ["zones/z/silver/p.files", "data/copied", "../elsewhere/copied"])
def test_delivered_files_are_reserved_wherever_they_are(lake: Path, place: str) -> None:
    file = deliver(lake / place)
    (lake / "data/link").symlink_to(lake / place)
    for path in ("", "/v1", "/v1/part-00000.csv", "/v*/part-*.csv", "/v1/*.csv", "/later/x.csv"):
        for folder in (place, "data/link"):
            found = str(problem(f"{folder}{path}", lake))
            assert "delivered files" in found, path
            assert "`parents: [silver.p]`" in found
    assert reserved_among([str(file)], str(lake), nobody)


def test_one_set_of_delivered_files_is_recognised_by_its_own_manifest(lake: Path) -> None:
    shutil.copytree(deliver(lake / "zones/p.files").parent, lake / "data/v1")
    assert "`parents: [silver.p]`" in str(problem("data/v1/*.csv", lake))


def test_a_delivery_is_reserved_before_its_manifest_is_written(lake: Path) -> None:
    put(lake, "zones/z/silver/p/_delta_log/00000000000000000000.json")
    put(lake, "zones/z/silver/p.files/v1/part-00000.csv")
    path = "zones/z/silver/p.files/v1/*.csv"

    def ours(folder: str) -> bool:
        return folder.endswith("silver/p")

    assert "is delivered" in str(reserved_source(path, str(lake), ours))
    assert problem(path, lake) is None, "the table of somebody else"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"dataset": "x", "files": []}', "[" * 99_999])
def test_manifests_of_others_reserve_nothing(lake: Path, text: str) -> None:
    put(lake, "data/x.files/manifest.json").write_text(text)
    assert problem("data/x.files/a.csv", lake) is None
    assert problem("data/x.files/*.json", lake) is None


def test_a_place_that_cannot_be_looked_at_is_refused(lake: Path) -> None:
    found = str(problem(f"data/{'x' * 300}/a.csv", lake))
    assert "cannot be looked at: File name too long" in found
