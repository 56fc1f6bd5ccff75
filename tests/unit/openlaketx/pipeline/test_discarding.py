"""Discarding removes all files of a run, and none of another run."""

from __future__ import annotations

from pathlib import Path

from lakeguard_sdk.storage.run_folders import quarantine_place, quarantine_run_folder
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.pipeline.run_dataset import discard_staged
from tests.support.lakes.plans import DATASET, parquet, plan, schema

DECLARED = schema(id="long")


def left(folder: str) -> Path:
    file = Path(folder, "part.parquet")
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x")
    return file


def test_rows_that_rules_kept_out_go_with_the_batch(tmp_path: Path) -> None:
    made = plan(tmp_path, parquet(), DECLARED)
    lake, run_id = str(tmp_path), made.ticket.run_id
    own = [
        left(f"{made.location}/{made.staging}"),
        left(quarantine_place(lake, DATASET, run_id)),
        left(quarantine_run_folder(lake, DATASET, DECLARED, run_id)),
    ]
    others = [
        left(f"{made.location}/runs/run_2"),
        left(quarantine_run_folder(lake, DATASET, DECLARED, "run_2")),
    ]
    assert discard_staged(made, LocalStorage(), lake) == len(own)
    assert not any(file.exists() for file in own)
    assert all(file.exists() for file in others)
