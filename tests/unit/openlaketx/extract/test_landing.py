"""Received files are landed unchanged, complete and recorded, or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import RunPlan, RunTicket
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.extract.files.landed_files import land_files, landing, run_folder
from openlaketx.extract.files.manifest import Selection, select_files
from tests.support.lakes.plans import csv, plan, schema

AS_OF = datetime(2024, 2, 29, 23, 59, tzinfo=UTC)
STORAGE = LocalStorage()


def plan_of(lake: Path, run: str = "run_1") -> RunPlan:
    ticket = RunTicket(run_id=run, task_id="task_1", attempt=1, lease_token="x")
    return plan(lake, csv(), schema(a="string"), as_of=AS_OF, ticket=ticket)


def folder_of(lake: Path, run: str = "run_1") -> Path:
    return lake / "landing" / "orders" / "ingest_date=2024-02-29" / f"execution_id={run}"


def found(lake: Path, pattern: str, load: LoadType = LoadType.FULL) -> Selection:
    return select_files(
        source="orders",
        dataset="bronze.orders",
        pattern=pattern,
        root=str(lake),
        load=load,
        known=None,
        storage=STORAGE,
    )


def write(lake: Path, name: str, content: bytes = b"x") -> None:
    (lake / name).parent.mkdir(parents=True, exist_ok=True)
    (lake / name).write_bytes(content)


def landed(lake: Path, pattern: str, run: str = "run_1") -> Selection:
    with landing(plan_of(lake, run), "orders", str(lake), STORAGE) as place:
        return land_files(found(lake, pattern), pattern, place, STORAGE)


def test_files_are_kept_as_they_came_with_a_manifest(tmp_path: Path) -> None:
    big = os.urandom(3 << 20)
    write(tmp_path, "in/a.csv", big)
    write(tmp_path, "in/deep/a.csv", b"other")
    selection = landed(tmp_path, "in/**/*.csv")
    place = folder_of(tmp_path)
    assert str(place) == run_folder(plan_of(tmp_path), "orders", str(tmp_path))
    assert (place / "a.csv").read_bytes() == big
    assert (place / "deep" / "a.csv").read_bytes() == b"other"
    assert list(map(selection.location, selection.files)) == [
        str(place / "a.csv"),
        str(place / "deep" / "a.csv"),
    ]
    manifest = json.loads((place / "manifest.json").read_text())
    assert (manifest["source"], manifest["execution_id"]) == ("orders", "run_1")
    assert [(f["name"], f["origin"], f["size"]) for f in manifest["files"]] == [
        ("a.csv", "in/a.csv", len(big)),
        ("deep/a.csv", "in/deep/a.csv", 5),
    ]
    digests = [hashlib.sha256(content).hexdigest() for content in (big, b"other")]
    assert [file["sha256"] for file in manifest["files"]] == digests
    assert [file.sha256 for file in selection.position.files] == digests
    assert all(file["received_at"].endswith("Z") for file in manifest["files"])


def test_what_was_landed_may_go_away_at_its_origin(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    selection = landed(tmp_path, "in/*.csv")
    (tmp_path / "in" / "a.csv").unlink()
    selection.confirm(STORAGE)


def test_each_run_lands_by_itself(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    landed(tmp_path, "in/*.csv", "run_1")
    landed(tmp_path, "in/*.csv", "run_2")
    for run in ("run_1", "run_2"):
        assert sorted(p.name for p in folder_of(tmp_path, run).iterdir()) == [
            "a.csv",
            "manifest.json",
        ]


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    landed(tmp_path, "in/*.csv")
    with pytest.raises(SourceUnreadable, match=r"cannot write to .* File exists"):
        landed(tmp_path, "in/*.csv")
    assert (folder_of(tmp_path) / "manifest.json").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("x"), OSError(28, "No space")])
def test_nothing_is_left_of_a_landing_that_failed(tmp_path: Path, error: BaseException) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise error

    expected = SourceUnreadable if isinstance(error, OSError) else type(error)

    def receive() -> None:
        with landing(plan_of(tmp_path), "orders", str(tmp_path), STORAGE) as place:
            place.receive("first.csv", "elsewhere", [b"whole"])
            place.receive("a.csv", "elsewhere", chunks())

    with pytest.raises(expected) as raised:
        receive()
    assert not folder_of(tmp_path).exists()
    if isinstance(error, OSError):
        assert "No space" in str(raised.value)


@pytest.mark.parametrize("how", ["longer", "gone", "same length"])
def test_a_file_that_changes_while_it_is_copied_is_refused(tmp_path: Path, how: str) -> None:
    write(tmp_path, "in/a.csv", b"one")
    selection = found(tmp_path, "in/*.csv", LoadType.APPEND)
    stat = (tmp_path / "in" / "a.csv").stat()
    if how == "gone":
        (tmp_path / "in" / "a.csv").unlink()
    else:
        write(tmp_path, "in/a.csv", b"two" if how == "same length" else b"longer")
        os.utime(tmp_path / "in" / "a.csv", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with (
        pytest.raises(SourceUnreadable, match=r"in/a.csv( changed while|: No such file)"),
        landing(plan_of(tmp_path), "orders", str(tmp_path), STORAGE) as place,
    ):
        land_files(selection, "in/*.csv", place, STORAGE)
    assert not folder_of(tmp_path).exists()


def test_a_file_with_the_name_of_the_manifest_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "in/manifest.json")
    with pytest.raises(SourceUnreadable, match=r"in/manifest.json would land as manifest.json"):
        landed(tmp_path, "in/*")
    assert not folder_of(tmp_path).exists()


def test_only_empty_folders_go_with_what_was_not_received(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    landed(tmp_path, "in/*.csv")
    with landing(plan_of(tmp_path, "run_2"), "orders", str(tmp_path), STORAGE) as place:
        place.discard()
    assert not folder_of(tmp_path, "run_2").exists()
    assert (folder_of(tmp_path) / "manifest.json").exists()
    with landing(plan_of(tmp_path, "run_3"), "other", str(tmp_path), STORAGE) as place:
        place.discard()
    assert [folder.name for folder in (tmp_path / "landing").iterdir()] == ["orders"]


def test_runs_that_land_and_give_up_at_once_do_not_meet(tmp_path: Path) -> None:
    """One run removes empty folders while the other creates its own in them."""

    def land_nothing(number: int) -> None:
        with landing(plan_of(tmp_path, f"run_{number}"), "orders", str(tmp_path), STORAGE) as place:
            place.discard()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(land_nothing, range(400)))
    assert not (tmp_path / "landing").exists()
