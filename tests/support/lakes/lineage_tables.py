"""Two datasets as files of Spark, whose columns are followed through frames."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import InputPin, TableSnapshot
from openlaketx.extract.frame_lineage import Reads, frame_lineage
from tests.support.lakes.plans import schema

Found = dict[str, set[str] | None]
"""The sources of each column; None if they are unknown."""


class LineageTables:
    """Two datasets as files, and what was read of them."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.reads = spark, folder, Reads()
        columns = "id", "cast(id as string) mail", "id * 2 amount", "array(id) xs"
        self.a = self._table("a", spark.range(3).selectExpr(*columns))
        self.b = self._table("b", spark.range(3).selectExpr("id", "cast(id as string) phone"))
        self.a.createOrReplaceTempView("a")
        self.b.createOrReplaceTempView("b")

    def _table(self, name: str, rows: DataFrame) -> DataFrame:
        place = self.folder / name
        rows.coalesce(1).write.parquet(str(place / "runs" / "1"))
        files = [str(path) for path in place.glob("runs/1/*.parquet")]
        self.add(name, files, *rows.columns)
        return self.spark.read.parquet(*files)

    def add(self, name: str, files: list[str], *columns: str) -> None:
        """The files are a version with these columns."""
        version = InputVersion(dataset=f"silver.{name}", dataset_id=name, version=1)
        pin = InputPin(
            input=version,
            snapshot=TableSnapshot(location=str(self.folder / name), table_id=name, commit=1),
            table_schema=schema(**dict.fromkeys(columns, "string")),
        )
        self.reads.add(pin, files)

    def followed(self, frame: DataFrame) -> Found:
        found = frame_lineage(frame, self.reads)
        return {
            item.column: None
            if item.unknown
            else {f"{source.dataset_id}.{source.column}" for source in item.sources}
            for item in found.columns
        }
