"""Files of other writers in a partitioned table: what only the log says of them is not lost."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.schema import Column, TableSchema
from lakeguard_sdk.storage import storage_for
from openlaketx.compact import rewrite
from tests.unit.openlaketx.compact.test_rewrite import plan_of

SCHEMA = TableSchema(columns=(Column(name="n", type="long"), Column(name="p", type="string")))


def write(root: Path, path: str, **columns: list[object]) -> str:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), root / path)
    return path


def test_files_that_lack_their_partition_are_left_alone(tmp_path: Path) -> None:
    lacking = [write(tmp_path, f"p=x/{n}.parquet", n=[n]) for n in (1, 2)]
    telling = [write(tmp_path, f"p=x/{n}.parquet", n=[n], p=["x"]) for n in (3, 4)]
    own = write(tmp_path, "runs/run_1/5.parquet", n=[5], p=["x"])
    said = {"table_schema": SCHEMA, "partition_by": ("p",), "staging": "runs/run_9"}
    plan = plan_of(tmp_path, (*lacking, *telling, own), **said)
    made = rewrite(plan, storage_for(str(tmp_path)), lambda: None)
    assert made is not None
    assert set(made.removes) == {*telling, own}
    assert [file.partition for file in made.adds] == [{"p": "x"}]
    alone = plan_of(tmp_path, tuple(lacking), **{**said, "staging": "runs/run_8"})
    assert rewrite(alone, storage_for(str(tmp_path)), lambda: None) is None
