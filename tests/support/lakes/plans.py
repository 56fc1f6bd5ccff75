"""Plans and projects made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.run import (
    Build,
    RunPlan,
    RunTicket,
    SourceBuild,
)
from lakeguard_sdk.types.schema import Column, TableSchema

DATASET = DatasetName("bronze.orders")


def schema(**columns: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in columns.items()))


def csv(path: str = "in/*.csv", **options: str) -> SourceBuild:
    return SourceBuild(source="orders", format=SourceFormat.CSV, path=path, options=options)


def parquet(path: str = "in/*.parquet", **options: str) -> SourceBuild:
    return SourceBuild(source="orders", format=SourceFormat.PARQUET, path=path, options=options)


def plan(lake: Path, build: Build, declared: TableSchema, **changed: Any) -> RunPlan:
    fields = {
        "ticket": RunTicket(run_id="run_1", task_id="task_1", attempt=1, lease_token="x"),
        "dataset": DATASET,
        "dataset_id": "ds_1",
        "lease_seconds": 120.0,
        "load": LoadType.FULL,
        "declared": declared,
        "build": build,
        "measures": (),
        "location": str(lake / "bronze" / "orders"),
        "base": None,
        "staging": "runs/run_1",
        "definition_hash": "sha256:0",
    }
    return RunPlan(**{**fields, **changed})


def write_files(lake: Path, **contents: str | bytes) -> None:
    """Files of the landing folder, by stem."""
    (lake / "in").mkdir(parents=True, exist_ok=True)
    for stem, content in contents.items():
        data = content if isinstance(content, bytes) else content.encode()
        (lake / "in" / f"{stem}.csv").write_bytes(data)
