"""Files of other writers in a partitioned table: what only the log says of them is not lost."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.storage.storage import storage_for
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.compact import rewrite
from tests.unit.openlaketx.compact.test_rewrite import plan_of

SCHEMA = TableSchema(columns=(Column(name="n", type="long"), Column(name="p", type="string")))


def write(root: Path, path: str, **columns: list[object]) -> str:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), root / path)
    return path


def test_files_whose_partition_the_log_tells_are_left_alone(tmp_path: Path) -> None:
    """Also those that have the column: readers take what the log says, not what stands in them."""
    lacking = [write(tmp_path, f"p=x/{n}.parquet", n=[n]) for n in (1, 2)]
    wrong = [write(tmp_path, f"p=x/{n}.parquet", n=[n], p=["y"]) for n in (3, 4)]
    own = [write(tmp_path, f"runs/run_1/{n}.parquet", n=[n], p=["x"]) for n in (5, 6)]
    given = {"table_schema": SCHEMA, "partition_by": ("p",), "staging": "runs/run_9"}
    plan = plan_of(tmp_path, (*lacking, *wrong, *own), **given)
    made = rewrite(plan, storage_for(str(tmp_path)), lambda: None)
    assert made is not None
    assert set(made.removes) == set(own)
    assert [file.partition for file in made.adds] == [{"p": "x"}]
    alone = plan_of(tmp_path, (*lacking, *wrong), **{**given, "staging": "runs/run_8"})
    assert rewrite(alone, storage_for(str(tmp_path)), lambda: None) is None
