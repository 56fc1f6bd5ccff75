"""A Delta table of others at one version, read by its list of files: a later commit is not seen."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.evidence import SourcePosition
from lakeguard_sdk.load import NEW_ROWS_ONLY
from lakeguard_sdk.run import RunPlan, SourceBuild
from lakeguard_sdk.schema import Column, TableSchema
from lakeguard_sdk.storage import join, located
from lakeguard_sdk.words import LoadType
from openlaketx.engine.places import spark_file_address, spark_read_path
from openlaketx.engine.shown_values import refusal
from openlaketx.engine.spark_errors import reason
from openlaketx.engine.spark_types import quoted_name, spark_schema
from openlaketx.extract.batch import Batch
from openlaketx.extract.foreign_snapshot import ForeignSnapshot, open_snapshot

_FILE, _KNOWN = "lg_file", "lg_known"


def read_delta(session: SparkSession, build: SourceBuild, plan: RunPlan, lake: str) -> Batch | None:
    """All rows of the newest version, or those of files that the position does not know.

    Files never change, so a removed one means rows that were deleted or rewritten: an APPEND
    refuses it, another load reads what was rewritten once more. None where no file is new.
    """
    table = open_snapshot(build, str(plan.dataset), located(lake, build.path))
    known = {file.path for file in build.position.files} if build.position else set()
    if plan.load.type is LoadType.APPEND and known - table.files.keys():
        raise table.unreadable(
            "it lost rows since they were read, so it is not known what to append: load the"
            " dataset FULL, or by key"
        )
    fresh = sorted(table.files)
    if plan.window is not None and plan.load.type is LoadType.APPEND:
        fresh = sorted(known)
    elif plan.load.type in NEW_ROWS_ONLY and build.position is not None:
        new = [path for path in fresh if path not in known]
        if not new:
            return None
        fresh = fresh if plan.load.type is LoadType.PARTITION else new
    read = fresh if plan.window is not None else sorted(table.files)
    return Batch(
        frame=_frame(session, table, fresh),
        live=table.live,
        inputs=(),
        position=SourcePosition(files=tuple(table.files[path] for path in read)),
        explain=lambda error: table.unreadable(reason(error)),
        confirm=lambda: None,
    )


def _frame(session: SparkSession, table: ForeignSnapshot, fresh: list[str]) -> DataFrame:
    """Columns in the table's order; those it is partitioned by have the values of its log."""
    inside = tuple(c for c in table.live.columns if c.name not in table.partitions)
    schema = spark_schema(TableSchema(columns=inside))
    if not fresh:
        return session.createDataFrame([], spark_schema(table.live))
    paths = [spark_read_path(join(table.location, path)) for path in fresh]
    frame = session.read.schema(schema).parquet(*paths)
    if not table.partitions:
        return frame
    place = F.regexp_replace(F.col("_metadata.file_path"), "^file:(//)?", "")
    known = F.broadcast(_values(session, table, fresh))
    joined = frame.withColumn(_FILE, place).join(known, _FILE, "left")
    unknown = refusal("no partition is known of ", F.col(_FILE))
    return joined.select(
        *(
            F.when(F.col(_KNOWN).isNull(), unknown).otherwise(F.col(quoted_name(name))).alias(name)
            if name in table.partitions
            else quoted_name(name)
            for name in table.live.names
        )
    )


def _values(session: SparkSession, table: ForeignSnapshot, fresh: list[str]) -> DataFrame:
    """For each file, by the address that Spark gives it, the values of its partition.

    Folder names are no source: writers do not agree on how to spell a value there.
    """
    columns = [Column(name=name, type=table.live.type_of(name) or "") for name in table.partitions]
    for column in columns:
        if column.type.startswith("timestamp"):
            told = f"it is partitioned by {column.name}, a time, whose zone is not known"
            raise table.unreadable(told)
    own = (Column(name=_FILE, type="string"), Column(name=_KNOWN, type="boolean"))
    rows = [
        (
            spark_file_address(join(table.location, path)),
            True,
            *(table.values[path][name] for name in table.partitions),
        )
        for path in fresh
    ]
    return session.createDataFrame(rows, spark_schema(TableSchema(columns=(*own, *columns))))
