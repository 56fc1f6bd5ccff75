"""Every row has the rank of its file, however the file is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, Malformed, SourceFormat
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.extract import Batch, extract, transform
from openlaketx.extract.files.file_order import (
    PLACE,
    ROW_FILE,
    by_name,
    with_places,
)
from tests.support.lakes.plans import plan, schema
from tests.support.projects.csv_files import CsvProject

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
BY_KEY = Load(type=LoadType.INCREMENTAL, keys=("a",))
NAMES = ("é 9 #%20+", "é 10 #%20+", "é 100 #%20+")


def write(lake: Path, name: str, form: SourceFormat, values: list[str]) -> None:
    (lake / "in").mkdir(parents=True, exist_ok=True)
    place = lake / "in" / f"{name}.{form}"
    match form:
        case SourceFormat.PARQUET:
            pq.write_table(pa.table({"A": values}), place)
        case SourceFormat.JSONL:
            place.write_text("".join(f'{{"A": "{value}"}}\n' for value in values))
        case _:
            place.write_text("A\n" + "".join(f'"{value}"\n' for value in values))


def batch_of(session: SparkSession, lake: Path, build: SourceBuild, **changed: Any) -> Batch:
    made = plan(lake, build, schema(a="string"), **{"load": BY_KEY, **changed})
    batch = extract(made, lambda: session, str(lake), LocalStorage())
    assert batch is not None
    return transform(batch, made)


@pytest.mark.parametrize("form", [SourceFormat.CSV, SourceFormat.JSONL, SourceFormat.PARQUET])
@pytest.mark.parametrize("landing", [False, True])
def test_rows_and_the_places_of_their_files(
    session: SparkSession, tmp_path: Path, form: SourceFormat, landing: bool
) -> None:
    for number, name in enumerate(NAMES):
        write(tmp_path, name, form, [f"{number}", f"{number} too"])
    build = SourceBuild(source="orders", format=form, path="in/*", landing=landing)
    batch = batch_of(session, tmp_path, build)
    assert batch.live.names == ("a",)
    placed = with_places(batch.frame, batch.order)
    assert placed.columns == ["a", PLACE]
    assert sorted(map(tuple, placed.collect())) == [
        ("0", 0), ("0 too", 0), ("1", 1), ("1 too", 1), ("2", 2), ("2 too", 2),
    ]  # fmt: skip


def test_copies_without_their_bad_lines_keep_their_place(
    session: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path, "10", SourceFormat.CSV, ["later"])
    (tmp_path / "in" / "9.csv").write_text("A\nfirst\nbad,line\n")
    build = SourceBuild(
        source="orders", format=SourceFormat.CSV, path="in/*", malformed=Malformed.QUARANTINE
    )
    batch = batch_of(session, tmp_path, build)
    assert batch.rejected == 1
    rows = with_places(batch.frame, batch.order).collect()
    assert sorted(map(tuple, rows)) == [("first", 0), ("later", 1)]


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        (1, {}),
        (2, {"load": LoadType.FULL}),
        (2, {"load": LoadType.APPEND}),
        (2, {"load": Load(type=LoadType.SNAPSHOT, keys=("a",))}),
        (2, {"transform": "SELECT * FROM batch"}),
    ],
)
def test_nothing_is_told_that_nobody_asks_for(
    session: SparkSession, tmp_path: Path, files: int, changed: dict[str, Any]
) -> None:
    for name in NAMES[:files]:
        write(tmp_path, name, SourceFormat.CSV, ["x"])
    build = SourceBuild(source="orders", format=SourceFormat.CSV, path="in/*")
    batch = batch_of(session, tmp_path, build, **changed)
    assert batch.order == ()
    assert ROW_FILE not in batch.frame.columns
    assert batch.live.names == ("a",)


@pytest.mark.parametrize("details", ["", "landing: true\n", "malformed: quarantine\n"])
def test_the_file_of_the_higher_number_counts(tmp_path: Path, details: str) -> None:
    project = CsvProject(tmp_path)
    (tmp_path / "definitions" / "sources" / "orders.yaml").write_text(
        f"source: orders\nformat: csv\npath: in/*.csv\n{details}"
    )
    project.bronze("{type: INCREMENTAL, keys: [id]}", {"id": "long", "v": "string"})
    project.apply()
    project.land("orders 10", "id,v", "1,ten", "2,ten")
    project.land(
        "orders 9", "v,id", "nine,1", "nine,3", *(["x"] if "quarantine" in details else [])
    )
    result = project.run()
    assert (result.version, result.error) == (1, None)
    assert project.rows(columns="id, v") == [(1, "ten"), (2, "ten"), (3, "nine")]


def test_a_name_with_a_number_more_is_later() -> None:
    """As copies are named: the first has no number."""
    names = ["orders10.parquet", "orders2.parquet", "orders.parquet", "orders-1.parquet"]
    assert sorted(names, key=by_name) == [
        "orders-1.parquet",
        "orders.parquet",
        "orders2.parquet",
        "orders10.parquet",
    ]
