"""What lies beside tables tells whose it is by its path alone."""

from __future__ import annotations

import pytest

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.storage.run_folders import (
    landing_place,
    left_by,
    quarantine_place,
    quarantine_run_folder,
    quarantine_table,
)
from lakeguard_sdk.types.schema import Column, TableSchema

ORDERS = DatasetName("bronze.orders")
BATCH = TableSchema(columns=(Column(name="id", type="long"), Column(name="note", type="string")))
WIDER = TableSchema(columns=(*BATCH.columns, Column(name="more", type="string")))


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (quarantine_place("/lake", ORDERS, "run_1"), "quarantine"),
        (quarantine_run_folder("/lake", ORDERS, BATCH, "run_1"), "quarantine"),
        (landing_place("/lake", "shop", "2026-01-31", "run_1"), "landing"),
    ],
)
def test_a_file_is_of_its_run(place: str, kind: str) -> None:
    assert left_by(f"{place}/part.parquet".removeprefix("/lake/")) == (kind, "run_1")


@pytest.mark.parametrize(
    "path",
    [
        "quarantine/bronze/orders/12345678/_delta_log/00000000000000000000.json",
        "quarantine/bronze/orders/part.parquet",
        "quarantine/bronze/orders/a/b/execution_id=run_1/part.parquet",
        "landing/shop/ingest_date=2026-01-31/deeper/execution_id=run_1/a.csv",
        "bronze/orders/execution_id=run_1/part.parquet",
    ],
)
def test_other_files_are_of_no_run(path: str) -> None:
    assert left_by(path) is None


def test_batches_of_other_columns_have_another_table() -> None:
    turned = TableSchema(columns=BATCH.columns[::-1])
    assert quarantine_table("/lake", ORDERS, BATCH) == quarantine_table("/lake", ORDERS, turned)
    assert quarantine_table("/lake", ORDERS, BATCH) != quarantine_table("/lake", ORDERS, WIDER)
