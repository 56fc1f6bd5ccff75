"""``lakeguard maintain`` as a person calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.cli.rendering.maintain import Upkeep, maintain_lines
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.table_operations import Maintained
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell

AT_ONCE = "[env.dev.maintenance]\nretention_days = 0\ninspection_days = 0\n"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Four versions of one small file each, and then some."""
    numbers_project(tmp_path, LoadType.APPEND)
    (tmp_path / "lakeguard.toml").write_text(AT_ONCE)
    made = connect(tmp_path)
    for number in (1, 2, 3, 4):
        run_by_hand(made, [number])
    return made


def test_a_dry_run_changes_nothing(client: Client, tmp_path: Path, shell: Shell) -> None:
    result = shell("maintain", "--dry-run", "--project", tmp_path)
    assert result.code == 0
    assert "nothing was changed; 1 table would be" in result.out
    assert "up to 4" in result.out
    assert "Next: lakeguard maintain" in result.out
    (row,) = shell("maintain", "--dry-run", "--json", "--project", tmp_path).data["datasets"]
    assert (row["small_files"], row["merged_files"], row["removals"]) == (4, 0, [])
    assert len(client.reader.runs()) == 4


def test_files_are_merged_and_what_is_left_over_goes(
    client: Client, tmp_path: Path, shell: Shell
) -> None:
    result = shell("maintain", "bronze.numbers", "--json", "--project", tmp_path)
    assert result.code == 0
    (row,) = result.data["datasets"]
    assert (row["merged_files"], row["small_files"], row["error"]) == (4, 0, None)
    assert [removal["kind"] for removal in row["removals"]] == ["versions", "staging"]
    assert shown(tmp_path) == [1, 2, 3, 4]
    assert shell("verify", "--replay", "--project", tmp_path).code == 0
    again = shell("maintain", "--project", tmp_path)
    assert (again.code, again.out.strip()) == (0, "nothing to do")


def test_versions_whose_files_went_are_marked(tmp_path: Path, shell: Shell) -> None:
    numbers_project(tmp_path, LoadType.FULL)
    (tmp_path / "lakeguard.toml").write_text(AT_ONCE)
    client = connect(tmp_path)
    for number in (1, 2, 3):
        run_by_hand(client, [number])
    result = shell("maintain", "--project", tmp_path)
    assert "v1" in result.out
    listed = shell("versions", "bronze.numbers", "--project", tmp_path).out
    assert listed.count("files removed") == 1
    refused = shell(
        "rollback", "bronze.numbers", "--to", "v1", "--reason", "x", "--project", tmp_path
    )
    assert refused.code == 3
    assert "back to v1: maintenance removed its files; still available: v2" in refused.err
    assert 'Next: lakeguard rollback bronze.numbers --to v2 --reason "…"' in refused.err


def test_a_table_that_cannot_be_maintained_is_told(
    client: Client, tmp_path: Path, shell: Shell
) -> None:
    DeltaLake().write_foreign(str(tmp_path / "bronze" / "numbers"), [666])
    result = shell("maintain", "--project", tmp_path)
    assert result.code == 1
    assert "LG-3004" in result.out
    (row,) = shell("maintain", "--json", "--project", tmp_path).data["datasets"]
    assert row["error"]["code"] == "LG-3004"


def test_small_files_that_cannot_be_merged_are_told_and_why() -> None:
    made = Maintained(dataset=NUMBERS, small_files=3, removals=(), done=True)
    output = "\n".join(maintain_lines([Upkeep(NUMBERS, made, unmerged=3)], dry_run=False))
    assert "no two of 3 small files have compatible columns" in output


def test_an_unknown_dataset_is_refused(client: Client, tmp_path: Path, shell: Shell) -> None:
    assert shell("maintain", "bronze.nothing", "--project", tmp_path).code == 2


def test_a_rebuilt_state_knows_what_was_merged_and_removed(
    client: Client, tmp_path: Path, shell: Shell
) -> None:
    assert shell("maintain", "--project", tmp_path).code == 0
    versions = client.reader.versions(NUMBERS)
    moves = client.reader.pointer_moves(NUMBERS)
    for file in (tmp_path / ".lakeguard").glob("state.db*"):
        file.unlink()
    assert shell("rebuild", "--project", tmp_path).code == 0
    again = connect(tmp_path)
    assert again.reader.versions(NUMBERS) == versions
    assert again.reader.pointer_moves(NUMBERS) == moves
    assert shell("verify", "--replay", "--project", tmp_path).code == 0
    assert run_by_hand(again, [5]).version == 5
    assert shell("maintain", "--project", tmp_path).code == 0
    assert shown(tmp_path) == [1, 2, 3, 4, 5]
